#pragma once

// A plugin has one class here, and says its name.
#define PLUGINLIB_EXPORT_CLASS(kind, base)               \
  extern "C" base * stub_new_plugin() { return new kind(); } \
  extern "C" const char * stub_plugin_name() { return #kind; }
