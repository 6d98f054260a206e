"""Files of messages by time: MCAP files, and bags of ROS 1 and ROS 2."""
