"""The robot model: read a URDF file and look at what it describes.

After SPART's tutorial "Robot Model". Run it from anywhere: python examples/robot_model.py
"""

from pathlib import Path

import spart_blocks as sb

MODELS = Path(__file__).resolve().parents[1] / "models"

# A spacecraft with an arm: two fixed joints (its foot and its tool) and three revolute ones.
robot = sb.Robot.from_urdf(MODELS / "spacecraft_3dof.urdf")
print(f"robot: {robot.name}, {robot.base} base")
print(f"active joints n_q: {robot.n_q}")
print(f"links and joints n_links_joints, the base-link not counted: {robot.n_links_joints}")
print(f"total mass: {robot.mass:g} kg, base-link: {robot.base_link.mass:g} kg")

# Names in the file and SPART's ids: the base-link is 0, links and joints count from 1.
keys = robot.robot_keys
print(f"link ids: {keys.link_id}")
print(f"joint ids: {keys.joint_id}")
print(f"places in qm, counted from 1: {keys.q_id}")

# Python counts from 0, so link i is robot.links[i - 1].
i = keys.link_id["Link_2"]
link, joint = robot.links[i - 1], robot.joints[i - 1]
x, y, z = link.T[:3, 3]
print(f"\nlink {i}: {link.name}, {link.mass:g} kg, moved by joint {link.parent_joint}")
print(f"  its centre of mass in the joint's axes: [{x:g}, {y:g}, {z:g}] m")
print(f"  its inertia Ixx, Iyy, Izz: {link.inertia.diagonal()} kg m^2")
print(f"joint {joint.id}: {joint.name}, {joint.type.name.lower()} about {joint.axis}")
print(f"  from link {joint.parent_link} to link {joint.child_link}")

# branch[i, j] is 1 where link j lies between the base and link i.
print("\nbranch:")
print(robot.con.branch.astype(int))
print(f"links on the base, child_base: {robot.con.child_base.astype(int)}")

# A model never changes. What looks like a change gives a new robot.
bolted = robot.with_base("fixed")
print(f"\na copy with a {bolted.base} base; the first one still has a {robot.base} base")
