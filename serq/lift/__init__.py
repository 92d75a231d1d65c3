"""The earlier form of the language, as it stands in a lecture, brought into the present one."""
