"""Plays the sample of the library in Java at a running cluster: over both versions of the API and both transports. java.py CLASSPATH CLASSPATH-WITH-OKHTTP"""

import subprocess
import sys

from person import goes
from samples import END, cluster, gateway, verified

PLAIN, WITH_OKHTTP = sys.argv[1:]


def plays(version, classes, switches=(), provider="NorthCable", person="ben"):
    program = ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", classes, *switches, "Play", gateway, "ACME1", cluster["softwareStatements"]["acme-tv"], version,
        provider, END, "ACME1-NEWS", "ACME1-SPORT"]
    said, process = [], subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        what, _, text = line.rstrip("\n").partition(" ")
        said.append((what, text))
        if what == "open":
            goes(text, person, END)
            process.stdin.write("\n")
            process.stdin.flush()
    assert process.wait(timeout=30) == 0, said
    return said


def is_whole(said, provider="NorthCable"):
    heard = [entry for entry in said if entry[0] != "open"]
    token = next(text.split(" ", 1)[1] for what, text in heard if what == "play")
    verified(token)
    assert heard[:3] == [("signed-in", "no"), ("refused", "not_signed_in"), ("session", provider)], heard
    assert heard[3:5] == [("may", "ACME1-NEWS true"), ("may", "ACME1-SPORT false")], heard
    assert heard[6][0] == "denied" and "package" in heard[6][1], heard
    assert heard[7:] == [("person", "true"), ("signed-in", "no")], heard


for version in ("V1", "V2"):
    is_whole(plays(version, PLAIN))
    print(f"passed  {version} by HttpURLConnection")
is_whole(plays("V1", WITH_OKHTTP, ("-Dtransport=OkHttp",)))
print("passed  V1 by OkHttp")
for version in ("V1", "V2"):
    said = plays(version, PLAIN, provider="Preview10")
    assert ("session", "Preview10") in said and [what for what, _ in said].count("play") == 2, said
print("passed  a free preview, without a page")
