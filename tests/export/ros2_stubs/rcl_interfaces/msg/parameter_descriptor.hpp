#pragma once
#include <string>
#include <vector>

#include "rcl_interfaces/msg/floating_point_range.hpp"

namespace rcl_interfaces::msg
{
struct ParameterDescriptor
{
  std::string name, description, additional_constraints;
  bool read_only = false, dynamic_typing = false;
  std::vector<FloatingPointRange> floating_point_range;
};
}  // namespace rcl_interfaces::msg
