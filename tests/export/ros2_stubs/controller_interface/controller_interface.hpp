#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hardware_interface/loaned_interfaces.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/state.hpp"

namespace controller_interface
{

enum class CallbackReturn : uint8_t { SUCCESS = 97, FAILURE = 98, ERROR = 99 };
enum class return_type : uint8_t { OK = 0, ERROR = 1 };
enum class interface_configuration_type : uint8_t { ALL = 0, INDIVIDUAL = 1, NONE = 2 };

struct InterfaceConfiguration
{
  interface_configuration_type type;
  std::vector<std::string> names = {};
};

class ControllerInterface
{
public:
  virtual ~ControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &)
  {
    return CallbackReturn::SUCCESS;
  }
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &)
  {
    return CallbackReturn::SUCCESS;
  }
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &)
  {
    return CallbackReturn::SUCCESS;
  }
  virtual CallbackReturn on_cleanup(const rclcpp_lifecycle::State &)
  {
    return CallbackReturn::SUCCESS;
  }
  virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;

  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() { return node_; }
  std::shared_ptr<const rclcpp_lifecycle::LifecycleNode> get_node() const { return node_; }
  unsigned int get_update_rate() const { return stub_rate; }

  template <typename T>
  auto auto_declare(const std::string & name, const T & value)
  {
    if (!node_->has_parameter(name)) node_->declare_parameter(name, rclcpp::ParameterValue(value));
    return node_->get_parameter(name).get_parameter_value().template get<T>();
  }

  void stub_assign(
    std::vector<hardware_interface::LoanedCommandInterface> && commands,
    std::vector<hardware_interface::LoanedStateInterface> && states)
  {
    command_interfaces_ = std::move(commands);
    state_interfaces_ = std::move(states);
  }
  unsigned int stub_rate = 0;

protected:
  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;

private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ =
    std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};

}  // namespace controller_interface
