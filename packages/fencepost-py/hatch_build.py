"""Puts the program $FENCEPOST into a wheel for $WHEEL_PLATFORM; ci/packages.sh sets both."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Program(BuildHookInterface):
    def initialize(self, version, build_data):
        program, platform = os.environ["FENCEPOST"], os.environ["WHEEL_PLATFORM"]
        build_data["shared_scripts"][program] = os.path.basename(program)
        build_data["tag"] = f"py3-none-{platform}"
        build_data["pure_python"] = False
