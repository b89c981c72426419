"""The part of the package that peers.py needs, over the library of driver.cpp. It says nothing about Millpond."""

import os
import types

_millpond = types.SimpleNamespace(__file__=os.environ["STAND_IN_LIBRARY"])
