"""ROS 2 messages without ROS: definitions, hashes of types, and their bytes."""
