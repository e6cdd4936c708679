#!/usr/bin/env python3
"""A stranger's client: calls a Boxoffice service with nothing but Python's ssl and protobuf, written from Shared/Documents/Wire.md.

Prints one JSON object per message. Ends with 0 when the call succeeded, 1 with one line on standard error when it failed.
"""

import argparse
import json
import sys

from google.protobuf.json_format import MessageToDict

import contracts
from wire import Connection, PeerError


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option, meaning in [
        ("address", "host:port of the service"), ("ca", "trusted certificates, PEM"), ("cert", "this client's certificate, PEM"),
        ("key", "its key, PEM"), ("name", "the name that the service's certificate must have, for example config.boxoffice"),
    ]:
        parser.add_argument(f"--{option}", required=True, help=meaning)
    parser.add_argument("--timeout", type=float, help="seconds for the call (default 5; none for watch)")
    parser.add_argument("--count", type=int, help="watch: stop after so many items")
    parser.add_argument("--delay", type=int, default=0, help="echo: milliseconds that the service waits")
    parser.add_argument("command", choices=["check", "services", "configuration", "watch", "echo", "hello"])
    return parser.parse_args()


def show(message):
    print(json.dumps(MessageToDict(message, preserving_proto_field_name=True)), flush=True)


def run(options, connection, platform, config):
    seconds = 5 if options.timeout is None else options.timeout
    if options.command == "hello":
        show(connection.peer)
    elif options.command == "check":
        show(connection.call("boxoffice.platform.v1.Health", "Check", platform.CheckHealthRequest(), platform.HealthReport, seconds))
    elif options.command == "services":
        show(connection.call(
            "boxoffice.platform.v1.Reflection", "ListServices", platform.ListServicesRequest(), platform.ListServicesResponse, seconds))
    elif options.command == "echo":
        request = platform.EchoMessage(content=b"echo", delay_ms=options.delay)
        show(connection.call("boxoffice.platform.v1.Diagnostics", "Echo", request, platform.EchoMessage, seconds))
    elif options.command == "configuration":
        show(connection.call(
            "boxoffice.config.v1.Config", "GetConfiguration", config.GetConfigurationRequest(), config.Configuration, seconds))
    else:
        watch(options, connection, config)


def watch(options, connection, config):
    items = connection.stream(
        "boxoffice.config.v1.Config", "WatchConfiguration", config.WatchConfigurationRequest(), config.Configuration, options.timeout)
    for number, item in enumerate(items, start=1):
        show(item)
        if number == options.count:
            items.close()
            return


def main():
    options = arguments()
    try:
        frames, platform, config = contracts.load("frame", "platform", "config")
        connection = Connection(frames, options.address, options.ca, options.cert, options.key, options.name)
        try:
            run(options, connection, platform, config)
        finally:
            connection.close()
    except PeerError as error:
        print(f"peer: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


sys.exit(main())
