#pragma once

namespace rcl_interfaces::msg
{
struct FloatingPointRange
{
  double from_value = 0, to_value = 0, step = 0;
};
}  // namespace rcl_interfaces::msg
