"""A subdiagram as a controller of ros2_control: its interfaces, and the files of its package."""
