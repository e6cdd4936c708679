"""Whether letters to MVPDs are written from the list of what is missing, and the list kept."""

import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

LETTERS = pathlib.Path(__file__).resolve().parents[2] / "Shared/Tooling/mvpd-letters"
ORIGIN = "https://tv.chan7.example"
METADATA = """<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://tv.chan7.example/saml">
<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>
{certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://tv.chan7.example/sp/saml/logout"/>
<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://tv.chan7.example/sp/saml/consumer" index="0"/>
</md:SPSSODescriptor></md:EntityDescriptor>"""
LIST = {
    "requestors": {"CHAN7": "Channel Seven"},
    "mvpds": [
        {
            "id": "DemoCable",
            "displayName": "Demo Cable",
            "requestors": ["CHAN7"],
            "missing": [
                {"name": "signIn", "what": "its SAML metadata", "who": "the MVPD"},
                {"name": "lifetimes", "what": "authnTtl and authzTtl", "who": "the vendor's dashboard"},
            ],
        },
        {"id": "HillTel", "displayName": "Hill Tel", "requestors": ["CHAN7"], "proxied": True, "missing": []},
        {"id": "Trial", "displayName": "Trial", "requestors": ["CHAN7"], "trial": True, "missing": []},
    ],
}


class Letters(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.list = self.folder / "mvpds.json"
        self.list.write_text(json.dumps(LIST))
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=sp", "-days", "9"],
            check=True, capture_output=True, text=True,
        ).stdout
        self.metadata = self.folder / "metadata.xml"
        self.metadata.write_text(METADATA.format(certificate="".join(made.splitlines()[1:-1])))

    def run_it(self, *words):
        return subprocess.run([sys.executable, "-B", LETTERS, "--list", self.list, *words], capture_output=True, text=True)

    def write(self, *words):
        return self.run_it("--origin", ORIGIN, "--metadata", self.metadata, *words)

    def kept(self):
        return {entry["id"]: entry for entry in json.loads(self.list.read_text())["mvpds"]}

    def test_letters_go_to_those_that_were_not_asked_and_the_list_says_so(self):
        output = self.folder / "letters"
        self.assertEqual(self.write("--output", output).returncode, 0)
        self.assertEqual(sorted(file.name for file in output.iterdir()), ["DemoCable.txt", "HillTel.txt"])
        text = (output / "DemoCable.txt").read_text()
        for line in [
            "To Demo Cable (DemoCable)",
            "  - Channel Seven (CHAN7)",
            "  - your SAML metadata; or, with OAuth, your issuer and a client for us",
            "  - https://tv.chan7.example/saml/on-behalf-of/CHAN7",
            "Answers go to (HTTP-POST): https://tv.chan7.example/sp/saml/consumer",
            "Redirect URI, exactly: https://tv.chan7.example/adobe-services/oauth2/DemoCable",
        ]:
            self.assertIn(line + "\n", text)
        # Who does not have it is not asked for it.
        self.assertNotIn("authnTtl", text)
        self.assertIn("through another MVPD", (output / "HillTel.txt").read_text())
        today = datetime.date.today().isoformat()
        self.assertEqual({name: entry.get("asked") for name, entry in self.kept().items()}, {"DemoCable": today, "HillTel": today, "Trial": None})
        (output / "HillTel.txt").unlink()
        self.assertEqual(self.write("--output", output).returncode, 0)
        self.assertFalse((output / "HillTel.txt").exists())
        self.assertEqual(self.write("--output", output, "HillTel").returncode, 0)
        self.assertTrue((output / "HillTel.txt").exists())

    def test_a_letter_on_the_screen_was_sent_to_nobody(self):
        done = self.write("DemoCable")
        self.assertTrue(done.stdout.startswith("To Demo Cable (DemoCable)\n"), done.stderr)
        self.assertEqual(self.kept(), {entry["id"]: entry for entry in LIST["mvpds"]})

    def test_steps_are_noted_once_and_printed(self):
        for step, member in [("--asked", "asked"), ("--answered", "answered"), ("--signed-in", "signedIn")]:
            done = self.run_it(step, "DemoCable")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.kept()["DemoCable"][member], datetime.date.today().isoformat())
        kept = json.loads(self.list.read_text())
        kept["mvpds"][0]["answered"] = "2026-12-05"
        self.list.write_text(json.dumps(kept))
        self.run_it("--answered", "DemoCable")
        self.assertEqual(self.kept()["DemoCable"]["answered"], "2026-12-05")
        lines = self.run_it().stdout.splitlines()
        self.assertEqual(lines[-1], "3 MVPDs: 1 asked, 1 answered, 1 signed in")
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)

    def test_a_record_of_the_catalogue_is_compared_in_the_letter(self):
        catalogue = self.folder / "catalogue.json"
        oauth = {"issuer": "https://id.hill.example", "authorizeUrl": "https://id.hill.example/a", "tokenUrl": "https://id.hill.example/t", "clientId": "box"}
        catalogue.write_text(json.dumps({
            "programmers": [], "requestors": [{"id": "CHAN7", "name": "Channel Seven"}],
            "mvpds": [{"id": "HillTel", "displayName": "Hill Tel", "oauth": oauth}], "integrations": [{"requestor": "CHAN7", "mvpd": "HillTel"}],
        }))
        text = self.write("--catalogue", catalogue, "HillTel").stdout
        self.assertIn("  issuer       https://id.hill.example\n", text)
        self.assertNotIn("If you speak SAML", text)

    def test_what_is_wrong_is_said_in_a_line(self):
        for words, said in [
            (["--answered"], "name the MVPDs"),
            (["--answered", "--signed-in", "DemoCable"], "one at a time"),
            (["--answered", "Nobody"], "the list has no MVPD Nobody"),
            (["--origin", ORIGIN, "--metadata", self.folder / "none.xml"], "none.xml"),
        ]:
            done = self.run_it(*words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        for text in ["{", "[]", '{"mvpds": [{"id": "../x", "displayName": "X"}]}']:
            self.list.write_text(text)
            done = self.run_it()
            self.assertTrue(done.returncode != 0 and "Traceback" not in done.stderr, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
