#pragma once
#include <optional>
#include <string>

namespace hardware_interface
{

// A number of the hardware. held: by another thread, where interfaces have locks.
struct StubNumber
{
  std::string name;
  double value = 0;
  bool held = false;
};

class LoanedStateInterface
{
public:
  explicit LoanedStateInterface(StubNumber & number) : number_(&number) {}
  LoanedStateInterface(const LoanedStateInterface &) = delete;
  LoanedStateInterface(LoanedStateInterface &&) = default;

#ifdef SB_JAZZY
  const std::string & get_name() const { return number_->name; }
  template <typename T = double>
  [[nodiscard]] std::optional<T> get_optional(unsigned int max_tries = 10) const
  {
    (void)max_tries;
    return number_->held ? std::nullopt : std::optional<T>(number_->value);
  }
  [[deprecated("of Humble")]] double get_value() const { return number_->value; }
#else
  const std::string get_name() const { return number_->name; }
  double get_value() const { return number_->value; }
#endif

private:
  StubNumber * number_;
};

class LoanedCommandInterface
{
public:
  explicit LoanedCommandInterface(StubNumber & number) : number_(&number) {}
  LoanedCommandInterface(const LoanedCommandInterface &) = delete;
  LoanedCommandInterface(LoanedCommandInterface &&) = default;

#ifdef SB_JAZZY
  const std::string & get_name() const { return number_->name; }
  template <typename T>
  [[nodiscard]] bool set_value(const T & value, unsigned int max_tries = 10)
  {
    (void)max_tries;
    if (!number_->held) number_->value = value;
    return !number_->held;
  }
#else
  const std::string get_name() const { return number_->name; }
  void set_value(double value) { number_->value = value; }
#endif

private:
  StubNumber * number_;
};

}  // namespace hardware_interface
