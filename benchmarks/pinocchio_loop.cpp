// Pinocchio's algorithms called in a C++ loop, for benchmarks/dynamics.py.
//
// Header-only, so that all of it is compiled with the flags of the benchmark. The model
// comes from Python in arrays, with the joint types that Pinocchio's URDF parser chose.

#include <cmath>
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <string>

namespace pin = pinocchio;

struct Twin {
  pin::Model model;
  pin::Data data;
  explicit Twin(const pin::Model &m) : model(m), data(m) {}
};

using Vector = Eigen::Map<const Eigen::VectorXd>;

extern "C" {

// kinds: 0 free flyer, 1 RX, 2 RY, 3 RZ, 4 PX, 5 PY, 6 PZ. placements: R row by row, p.
// inertias: mass, centre of mass, xx, xy, yy, xz, yz, zz about it.
void *twin(long long n, const long long *parents, const long long *kinds,
           const double *placements, const double *inertias, const double *gravity) {
  pin::Model model;
  for (long long k = 0; k < n; k++, placements += 12, inertias += 10) {
    Eigen::Matrix3d R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(placements);
    pin::SE3 M(R, Eigen::Map<const Eigen::Vector3d>(placements + 9));
    std::string name = "joint" + std::to_string(k);
    pin::JointModel joint;
    switch (kinds[k]) {
      case 0: joint = pin::JointModelFreeFlyer(); break;
      case 1: joint = pin::JointModelRX(); break;
      case 2: joint = pin::JointModelRY(); break;
      case 3: joint = pin::JointModelRZ(); break;
      case 4: joint = pin::JointModelPX(); break;
      case 5: joint = pin::JointModelPY(); break;
      default: joint = pin::JointModelPZ(); break;
    }
    auto id = model.addJoint(parents[k], joint, M, name);
    const double *I = inertias + 4;
    Eigen::Matrix3d about;
    about << I[0], I[1], I[3], I[1], I[2], I[4], I[3], I[4], I[5];
    Eigen::Vector3d com = Eigen::Map<const Eigen::Vector3d>(inertias + 1);
    model.appendBodyToJoint(id, pin::Inertia(inertias[0], com, about), pin::SE3::Identity());
  }
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
  return new Twin(model);
}

void aba(void *twin, const double *q, const double *v, const double *tau, double *out,
         long long calls) {
  auto &[model, data] = *static_cast<Twin *>(twin);
  Eigen::VectorXd x = Vector(q, model.nq), y = Vector(v, model.nv), z = Vector(tau, model.nv);
  while (calls--) pin::aba(model, data, x, y, z);
  Eigen::Map<Eigen::VectorXd>(out, model.nv) = data.ddq;
}

void rnea(void *twin, const double *q, const double *v, const double *a, double *out,
          long long calls) {
  auto &[model, data] = *static_cast<Twin *>(twin);
  Eigen::VectorXd x = Vector(q, model.nq), y = Vector(v, model.nv), z = Vector(a, model.nv);
  while (calls--) pin::rnea(model, data, x, y, z);
  Eigen::Map<Eigen::VectorXd>(out, model.nv) = data.tau;
}

// The upper triangle: that is what crba computes.
void crba(void *twin, const double *q, double *out, long long calls) {
  auto &[model, data] = *static_cast<Twin *>(twin);
  Eigen::VectorXd x = Vector(q, model.nq);
  while (calls--) pin::crba(model, data, x);
  Eigen::Map<Eigen::MatrixXd>(out, model.nv, model.nv) =
      data.M.triangularView<Eigen::Upper>();
}
}
