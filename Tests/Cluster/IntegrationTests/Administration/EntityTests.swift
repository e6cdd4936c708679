@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    @Suite("Entries and their checks")
    struct EntityTests {
        @Test("dashboard #4: a programmer, a channel with its domain, an application and an integration are lines of one draft, and nothing is live")
        func newChannel() async throws {
            let local = try await Administrator.fresh()
            let entries: [(String, [String: Any])] = [
                ("/programmers", ["id": "zenith", "name": "Zenith Television"]),
                ("/requestors", ["id": "ZENITH1", "name": "Zenith One", "programmer": "zenith", "domains": ["zenith.example"]]),
                (
                    "/applications",
                    [
                        "id": "zenith-tv", "name": "Zenith TV", "version": "1", "programmer": "zenith", "requestors": ["ZENITH1"],
                        "platforms": ["tvos"], "scopes": ["api:client:v1"], "redirectDomains": ["zenith.example"],
                    ]
                ),
                ("/integrations", ["requestor": "ZENITH1", "mvpd": "NorthCable"]),
                ("/integrations", ["requestor": "ZENITH1", "mvpd": "LakeTel"]),
            ]
            for (path, entry) in entries {
                let answer = try await local.send("POST", path, entry)
                #expect(answer.status == 201 && answer.header("location") != nil && answer.header("etag") != nil, "\(answer.text)")
                let address = try #require(answer.header("location")).replacingOccurrences(of: "/admin/v1", with: "")
                #expect(try await local.send("GET", address).header("etag") == answer.header("etag"))
            }
            #expect(try await local.changes().count >= 5)
            #expect(try await local.cluster.send(Call("GET", "/api/v1/config/ZENITH1.json")).status == 400, "nothing is live")
            #expect(try await local.send("DELETE", "/draft").status == 204)
            #expect(try await local.send("GET", "/requestors/ZENITH1").status == 404)
        }

        @Test("dashboard #5: a taken id is 409, one with a blank is 422 and names the field")
        func ids() async throws {
            let local = try await Administrator.fresh()
            let taken = try await local.send("POST", "/requestors", ["id": "ACME1", "name": "A", "programmer": "acme", "domains": ["a.example"]])
            #expect(taken.status == 409 && taken.failureCode == "duplicate", "\(taken.text)")
            let blank = try await local.send("POST", "/requestors", ["id": "ACME 9", "name": "A", "programmer": "acme", "domains": ["a.example"]])
            #expect(blank.status == 422 && blank.failure["field"] as? String == "id", "\(blank.text)")
        }

        @Test("dashboard #6: a subdomain of a listed domain is a warning, an address as a domain is 422")
        func domains() async throws {
            let local = try await Administrator.fresh()
            let covered = try await local.change("/requestors/ACME1") { $0["domains"] = ["acme.example", "tv.acme.example"] }
            #expect(covered.status == 200 && covered.warnings.contains { $0.contains("acme.example") }, "\(covered.text)")
            let address = try await local.change("/requestors/ACME1") { $0["domains"] = ["http://x/"] }
            #expect(address.status == 422 && address.problemFields.contains { $0.hasPrefix("domains") }, "\(address.text)")
        }

        @Test("dashboard #7: deleting a domain names the applications that lose it")
        func domainDeletion() async throws {
            let local = try await Administrator.fresh()
            let answer = try await local.change("/requestors/ACME2") { $0["domains"] = ["acme-three.example"] }
            let told = answer.warnings + (answer.failure["problems"] as? [[String: Any]] ?? []).compactMap { $0["message"] as? String }
            #expect([200, 422].contains(answer.status) && "\(told) \(answer.text)".contains("acme-tv"), "\(answer.text)")
        }

        @Test("dashboard #8: a private key is 422, and its text in no log")
        func privateKey() async throws {
            let local = try await Administrator.fresh()
            let secret = "MIIEvSecret\(UUID().uuidString.replacingOccurrences(of: "-", with: ""))"
            let label = ["PRIVATE", "KEY"].joined(separator: " ")
            let pem = "-----BEGIN \(label)-----\n\(secret)\n-----END \(label)-----\n"
            let answer = try await local.change("/mvpds/NorthCable") { entity in
                var saml = try #require(entity["saml"] as? [String: Any])
                saml["signingCertificates"] = [pem]
                entity["saml"] = saml
            }
            #expect(answer.status == 422 && !answer.text.contains(secret), "\(answer.text)")
            for log in try FileManager.default.contentsOfDirectory(at: local.cluster.home.logs, includingPropertiesForKeys: nil) {
                #expect(try !String(contentsOf: log, encoding: .utf8).contains(secret), "\(log.lastPathComponent)")
            }
        }

        @Test("dashboard #9: a certificate of 1024 bits is 422")
        func weakCertificate() async throws {
            let local = try await Administrator.fresh()
            let folder = local.cluster.home.root
            let certificate = folder.appendingPathComponent("weak.crt")
            let made = try Program.run(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-keyout", folder.appendingPathComponent("weak.key").path, "-out",
                    certificate.path, "-days", "30", "-subj", "/CN=weak",
                ])
            try #require(made.status == 0, "\(made.output)")
            let pem = try String(contentsOf: certificate, encoding: .utf8)
            let answer = try await local.change("/mvpds/NorthCable") { entity in
                var saml = try #require(entity["saml"] as? [String: Any])
                saml["signingCertificates"] = [pem]
                entity["saml"] = saml
            }
            #expect(answer.status == 422 && answer.problemFields.contains { $0.contains("signingCertificates") }, "\(answer.text)")
        }

        @Test("dashboard #11: a key that must be encrypted without a certificate for it does not get live")
        func encryptionWithoutCertificate() async throws {
            let local = try await Administrator.fresh()
            let requestor: [String: Any] = ["id": "NADIR1", "name": "Nadir One", "programmer": "nadir", "domains": ["nadir.example"]]
            #expect(try await local.send("POST", "/programmers", ["id": "nadir", "name": "Nadir"]).status == 201)
            #expect(try await local.send("POST", "/requestors", requestor).status == 201)
            let zip: [String: Any] = ["requestor": "NADIR1", "mvpd": "NorthCable", "metadataKeys": [["key": "zip", "encrypted": true]]]
            let made = try await local.send("POST", "/integrations", zip)
            let blocked = made.status == 422 ? made : try await local.send("POST", "/draft/push", ["description": "zip"])
            #expect(blocked.status == 422 && blocked.problemFields.contains { $0.contains("metadataKeys") }, "\(blocked.text)")
            let plain = try await local.change("/integrations/ACME1/NorthCable") { $0["metadataKeys"] = ["zip"] }
            #expect(plain.status == 422, "zip goes encrypted only")
        }

        @Test("dashboard #12: name and version name one application of a programmer")
        func sameApplication() async throws {
            let local = try await Administrator.fresh()
            let again = try await local.copy(ofApplication: "acme-tv", ["id": "acme-tv-again"])
            let answer = try await local.send("POST", "/applications", again)
            #expect(answer.status == 409 && answer.failureCode == "duplicate", "\(answer.text)")
            let second = try await local.copy(ofApplication: "acme-tv", ["id": "acme-tv-2", "version": "2.0"])
            #expect(try await local.send("POST", "/applications", second).status == 201)
        }

        @Test("dashboard #17: a mandatory property cannot be taken away")
        func mandatory() async throws {
            let local = try await Administrator.fresh()
            for name in ["displayName", "authzTtl"] {
                let answer = try await local.change("/mvpds/NorthCable") { $0[name] = nil }
                #expect(answer.status == 422 && answer.problemFields.contains(name), "\(name): \(answer.text)")
            }
        }

        @Test("dashboard #21: a client secret's reference is masked in each comparison")
        func maskedSecret() async throws {
            let local = try await Administrator.fresh()
            let answer = try await local.change("/mvpds/OpenFiber") { entity in
                var oauth = try #require(entity["oauth"] as? [String: Any])
                oauth["clientSecretReference"] = "rotated-secret-7"
                entity["oauth"] = oauth
            }
            #expect(answer.status == 200)
            let draft = try await local.send("GET", "/draft")
            #expect(draft.text.contains("[hidden]") && !draft.text.contains("rotated-secret-7"), "\(draft.text)")
        }

        @Test func anEntryChangesOnlyFromWhatWasRead() async throws {
            let local = try await Administrator.fresh()
            let first = try await local.send("GET", "/requestors/ACME1")
            let entity = try #require(first.object["entity"] as? [String: Any])
            let tag = try #require(first.header("etag"))
            #expect(try await local.send("PUT", "/requestors/ACME1", entity).status == 412, "If-Match is required")
            #expect(try await local.send("PUT", "/requestors/ACME1", entity.merging(["name": "One"]) { $1 }, ifMatch: tag).status == 200)
            let late = try await local.send("PUT", "/requestors/ACME1", entity.merging(["name": "Two"]) { $1 }, ifMatch: tag)
            #expect(late.status == 412 && late.failureCode == "precondition_failed")
            let referenced = try await local.send("DELETE", "/requestors/ACME1", ifMatch: "*")
            #expect(
                referenced.status == 409 && referenced.failureCode == "referenced" && (referenced.failure["references"] as? [Any])?.isEmpty == false)
        }

        @Test("a generated scheme is 201, and a line of the draft")
        func schemes() async throws {
            let local = try await Administrator.fresh()
            let answer = try await local.send("POST", "/requestors/ACME1/custom-schemes")
            #expect(answer.status == 201, "\(answer.text)")
            let scheme = try #require(answer.object["customScheme"] as? String)
            #expect(scheme.wholeMatch(of: /adbe\.[A-Za-z0-9_-]{22}:\/\//) != nil, "\(scheme)")
            let draft = try await local.send("GET", "/draft")
            #expect(draft.text.contains(scheme.dropLast(3)), "\(draft.text)")
        }
    }
}
