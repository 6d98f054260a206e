// In the place of the controller manager: loads the plugin that is its argument, does what each line
// of its standard input says, and answers each by a line. Numbers are written so that no bit is lost.

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <iostream>
#include <new>
#include <sstream>

#include "controller_interface/controller_interface.hpp"
#include "sensor_msgs/msg/joint_state.hpp"
#include "std_msgs/msg/float64_multi_array.hpp"

static long allocations = 0, locks = 0;

void * operator new(std::size_t size)
{
  ++allocations;
  void * made = std::malloc(size ? size : 1);
  if (!made) throw std::bad_alloc();
  return made;
}
void operator delete(void * given) noexcept { std::free(given); }
void operator delete(void * given, std::size_t) noexcept { std::free(given); }

extern "C" int pthread_mutex_lock(pthread_mutex_t * mutex)
{
  using Function = int (*)(pthread_mutex_t *);
  static const Function next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return next(mutex);
}

using controller_interface::CallbackReturn;
using controller_interface::ControllerInterface;
using Names = std::vector<std::string>;

static std::vector<double> numbers(std::istream & line)
{
  std::vector<double> found;
  std::string word;
  while (line >> word) found.push_back(std::strtod(word.c_str(), nullptr));
  return found;
}

static rclcpp::ParameterValue value(std::istream & line)
{
  std::string kind;
  line >> kind;
  if (kind == "texts") {
    Names all;
    std::string one;
    while (line >> one) all.push_back(one);
    return rclcpp::ParameterValue(all);
  }
  const std::vector<double> all = numbers(line);
  const std::vector<int64_t> whole(all.begin(), all.end());
  if (kind == "double") return rclcpp::ParameterValue(all.at(0));
  if (kind == "integer") return rclcpp::ParameterValue(whole.at(0));
  if (kind == "integers") return rclcpp::ParameterValue(whole);
  return rclcpp::ParameterValue(all);
}

static const char * word(CallbackReturn given)
{
  return given == CallbackReturn::SUCCESS ? "success" : "error";
}

int main(int, char ** arguments)
{
  void * library = dlopen(arguments[1], RTLD_NOW);
  if (!library) {
    std::cerr << dlerror() << std::endl;
    return 1;
  }
  const auto make = reinterpret_cast<ControllerInterface * (*)()>(dlsym(library, "stub_new_plugin"));
  const auto name = reinterpret_cast<const char * (*)()>(dlsym(library, "stub_plugin_name"));
  std::unique_ptr<ControllerInterface> plugin(make());
  const auto node = plugin->get_node();
  std::map<std::string, hardware_interface::StubNumber> states, commands;
  Names state_names, command_names;
  std::string text;
  while (std::getline(std::cin, text)) {
    std::istringstream line(text);
    std::string verb, first;
    line >> verb;
    if (verb == "name") {
      std::printf("%s", name());
    } else if (verb == "rate") {
      line >> plugin->stub_rate;
    } else if (verb == "override") {
      line >> first;
      node->overrides->given[first] = value(line);
    } else if (verb == "init") {
#ifndef SB_JAZZY
      for (const auto & [key, given] : node->overrides->given) {
        rcl_interfaces::msg::ParameterDescriptor dynamic;
        dynamic.dynamic_typing = true;
        node->declare_parameter(key, given, dynamic, true);
      }
#endif
      std::printf("%s", word(plugin->on_init()));
    } else if (verb == "configure") {
      std::printf("%s", word(plugin->on_configure({})));
    } else if (verb == "activate") {
      state_names = plugin->state_interface_configuration().names;
      command_names = plugin->command_interface_configuration().names;
      std::vector<hardware_interface::LoanedStateInterface> lent;
      std::vector<hardware_interface::LoanedCommandInterface> taken;
      // in the reverse order: a controller finds its interfaces by their names
      for (auto one = state_names.rbegin(); one != state_names.rend(); ++one) {
        states[*one].name = *one;
        lent.emplace_back(states[*one]);
      }
      for (auto one = command_names.rbegin(); one != command_names.rend(); ++one) {
        commands[*one].name = *one;
        taken.emplace_back(commands[*one]);
      }
      std::string dropped;
      if (line >> dropped) lent.pop_back();
      plugin->stub_assign(std::move(taken), std::move(lent));
      std::printf("%s", word(plugin->on_activate({})));
    } else if (verb == "deactivate") {
      std::printf("%s", word(plugin->on_deactivate({})));
    } else if (verb == "cleanup") {
      std::printf("%s", word(plugin->on_cleanup({})));
    } else if (verb == "interfaces") {
      for (const auto & one : plugin->state_interface_configuration().names)
        std::printf("%s\t", one.c_str());
      std::printf("\t");
      for (const auto & one : plugin->command_interface_configuration().names)
        std::printf("%s\t", one.c_str());
    } else if (verb == "measure") {
      const std::vector<double> all = numbers(line);
      for (std::size_t k = 0; k < all.size(); ++k) states[state_names.at(k)].value = all[k];
    } else if (verb == "hold" || verb == "release") {
      for (auto & one : states) one.second.held = verb == "hold";
      for (auto & one : commands) one.second.held = verb == "hold";
    } else if (verb == "array") {
      std_msgs::msg::Float64MultiArray message;
      line >> first;
      message.data = numbers(line);
      std::printf("%d", node->publish(first, message));
    } else if (verb == "joints") {  // topic, number of joints, names, positions, velocities
      sensor_msgs::msg::JointState message;
      std::size_t size = 0;
      line >> first >> size;
      message.name.resize(size);
      for (auto & one : message.name) line >> one;
      const std::vector<double> all = numbers(line);
      message.position.assign(all.begin(), all.begin() + static_cast<long>(size));
      message.velocity.assign(all.begin() + static_cast<long>(size), all.end());
      std::printf("%d", node->publish(first, message));
    } else if (verb == "set") {
      line >> first;
      const auto result = node->set_parameter(rclcpp::Parameter(first, value(line)));
      std::printf("%d %s", result.successful, result.reason.c_str());
    } else if (verb == "describe") {
      line >> first;
      const auto & one = node->descriptors.at(first);
      std::printf("%s|%s", one.description.c_str(), one.additional_constraints.c_str());
      for (const auto & range : one.floating_point_range)
        std::printf("|%g|%g", range.from_value, range.to_value);
    } else if (verb == "parameters") {
      for (const auto & one : node->parameters) std::printf("%s\t", one.first.c_str());
    } else if (verb == "update") {
      const long before = allocations + locks;
      const auto status = plugin->update({}, {});
      std::printf("%d %ld", static_cast<int>(status), allocations + locks - before);
      for (const auto & one : command_names) std::printf(" %a", commands[one].value);
    } else {
      std::printf("unknown");
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
