#pragma once
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rcl_interfaces/msg/parameter_descriptor.hpp"
#include "rcl_interfaces/msg/set_parameters_result.hpp"

namespace rclcpp
{

// --- logs ---

struct Logger
{
};

#define STUB_LOG(level, logger, ...)    \
  do {                                  \
    (void)(logger);                     \
    std::printf("log %s ", level);      \
    std::printf(__VA_ARGS__);           \
    std::printf("\n");                  \
  } while (0)
#define RCLCPP_ERROR(logger, ...) STUB_LOG("error", logger, __VA_ARGS__)
#define RCLCPP_WARN(logger, ...) STUB_LOG("warning", logger, __VA_ARGS__)
#define RCLCPP_WARN_THROTTLE(logger, clock, milliseconds, ...) \
  do {                                                         \
    (void)(clock);                                             \
    (void)(milliseconds);                                      \
    STUB_LOG("warning", logger, __VA_ARGS__);                  \
  } while (0)

class Clock
{
};
class Time
{
};
class Duration
{
};

// --- parameters ---

enum class ParameterType : uint8_t {
  PARAMETER_NOT_SET = 0,
  PARAMETER_BOOL = 1,
  PARAMETER_INTEGER = 2,
  PARAMETER_DOUBLE = 3,
  PARAMETER_STRING = 4,
  PARAMETER_INTEGER_ARRAY = 7,
  PARAMETER_DOUBLE_ARRAY = 8,
  PARAMETER_STRING_ARRAY = 9,
};

class ParameterValue
{
public:
  ParameterValue() = default;
  explicit ParameterValue(int64_t value) : value_(value), type_(ParameterType::PARAMETER_INTEGER) {}
  explicit ParameterValue(double value) : value_(value), type_(ParameterType::PARAMETER_DOUBLE) {}
  explicit ParameterValue(const std::string & value)
  : value_(value), type_(ParameterType::PARAMETER_STRING)
  {
  }
  explicit ParameterValue(const std::vector<int64_t> & value)
  : value_(value), type_(ParameterType::PARAMETER_INTEGER_ARRAY)
  {
  }
  explicit ParameterValue(const std::vector<double> & value)
  : value_(value), type_(ParameterType::PARAMETER_DOUBLE_ARRAY)
  {
  }
  explicit ParameterValue(const std::vector<std::string> & value)
  : value_(value), type_(ParameterType::PARAMETER_STRING_ARRAY)
  {
  }

  ParameterType get_type() const { return type_; }

  template <typename T>
  const T & get() const
  {
    return std::get<T>(value_);
  }

private:
  std::variant<
    std::monostate, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
    std::vector<std::string>>
    value_;
  ParameterType type_ = ParameterType::PARAMETER_NOT_SET;
};

inline std::string to_string(const ParameterValue & value)
{
  return "a value of type " + std::to_string(static_cast<int>(value.get_type()));
}

class Parameter
{
public:
  Parameter(const std::string & name, const ParameterValue & value) : name_(name), value_(value) {}
  const std::string & get_name() const { return name_; }
  const ParameterValue & get_parameter_value() const { return value_; }
  const std::vector<std::string> & as_string_array() const
  {
    return value_.get<std::vector<std::string>>();
  }

private:
  std::string name_;
  ParameterValue value_;
};

namespace node_interfaces
{
struct OnSetParametersCallbackHandle
{
  using SharedPtr = std::shared_ptr<OnSetParametersCallbackHandle>;
  std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<Parameter> &)> callback;
};

class NodeParametersInterface
{
public:
  const std::map<std::string, ParameterValue> & get_parameter_overrides() const { return given; }
  std::map<std::string, ParameterValue> given;
};
}  // namespace node_interfaces

// --- subscriptions ---

class QoS
{
};
class SystemDefaultsQoS : public QoS
{
};

class SubscriptionBase
{
public:
  virtual ~SubscriptionBase() = default;
};

template <typename Message>
class Subscription : public SubscriptionBase
{
public:
  std::function<void(std::shared_ptr<const Message>)> callback;
};

}  // namespace rclcpp

namespace rclcpp_lifecycle
{

// What a node does of parameters and topics; a test reaches in by its public members.
class LifecycleNode
{
public:
  rclcpp::Logger get_logger() const { return {}; }
  std::shared_ptr<rclcpp::Clock> get_clock() { return std::make_shared<rclcpp::Clock>(); }

  bool has_parameter(const std::string & name) const { return parameters.count(name) != 0; }

  const rclcpp::ParameterValue & declare_parameter(
    const std::string & name, const rclcpp::ParameterValue & value,
    const rcl_interfaces::msg::ParameterDescriptor & descriptor = {}, bool ignore_override = false)
  {
    if (has_parameter(name)) throw std::runtime_error(name + " has been declared");
    const auto & given = overrides->given;
    const auto found = given.find(name);
    const bool taken = !ignore_override && found != given.end();
    const rclcpp::ParameterValue & chosen = taken ? found->second : value;
    if (!descriptor.dynamic_typing && chosen.get_type() != value.get_type())
      throw std::runtime_error(name + " is of another type");
    parameters.emplace(name, chosen);
    descriptors[name] = descriptor;
    return parameters.at(name);
  }

  void undeclare_parameter(const std::string & name)
  {
    if (!descriptors.at(name).dynamic_typing) throw std::runtime_error(name + " is typed");
    parameters.erase(name);
    descriptors.erase(name);
  }

  rclcpp::Parameter get_parameter(const std::string & name) const
  {
    return rclcpp::Parameter(name, parameters.at(name));
  }

  std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface> get_node_parameters_interface()
  {
    return overrides;
  }

  template <typename Callback>
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr add_on_set_parameters_callback(
    Callback && callback)
  {
    auto handle = std::make_shared<rclcpp::node_interfaces::OnSetParametersCallbackHandle>();
    handle->callback = callback;
    on_set = handle;
    return handle;
  }

  rcl_interfaces::msg::SetParametersResult set_parameter(const rclcpp::Parameter & one)
  {
    const auto found = parameters.find(one.get_name());
    if (found == parameters.end()) return {false, "not declared"};
    if (
      !descriptors.at(one.get_name()).dynamic_typing &&
      found->second.get_type() != one.get_parameter_value().get_type())
      return {false, "wrong type"};
    const auto handle = on_set.lock();
    rcl_interfaces::msg::SetParametersResult result{true, ""};
    if (handle) result = handle->callback({one});
    if (result.successful) found->second = one.get_parameter_value();
    return result;
  }

  template <typename Message, typename Callback>
  std::shared_ptr<rclcpp::Subscription<Message>> create_subscription(
    const std::string & topic, const rclcpp::QoS &, Callback && callback)
  {
    auto made = std::make_shared<rclcpp::Subscription<Message>>();
    made->callback = callback;
    subscriptions[topic] = made;
    return made;
  }

  // Whether somebody listens there, to messages of this type.
  template <typename Message>
  bool publish(const std::string & topic, const Message & message)
  {
    const auto found = subscriptions.find(topic);
    if (found == subscriptions.end()) return false;
    const auto one = std::dynamic_pointer_cast<rclcpp::Subscription<Message>>(found->second.lock());
    if (one) one->callback(std::make_shared<const Message>(message));
    return one != nullptr;
  }

  std::map<std::string, rclcpp::ParameterValue> parameters;
  std::map<std::string, rcl_interfaces::msg::ParameterDescriptor> descriptors;
  std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface> overrides =
    std::make_shared<rclcpp::node_interfaces::NodeParametersInterface>();
  std::weak_ptr<rclcpp::node_interfaces::OnSetParametersCallbackHandle> on_set;
  std::map<std::string, std::weak_ptr<rclcpp::SubscriptionBase>> subscriptions;
};

}  // namespace rclcpp_lifecycle
