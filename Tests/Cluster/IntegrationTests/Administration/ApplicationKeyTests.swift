@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import Testing

extension AdministrationApiTests {
    /// An operator creates, imports and revokes key pairs on the command line.
    @Suite("Key pairs of applications") struct ApplicationKeyTests {
        /// The output.
        private func boxoffice(_ arguments: String...) throws -> Program {
            let cluster = try TestCluster.running()
            let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
            return try Program.run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "application"] + arguments)
        }

        private func value(_ name: String, _ lines: [String]) throws -> String {
            try #require(lines.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)).trimmingCharacters(in: .whitespaces) })
        }

        /// A device asks for its session, with a header of its own or with one that was seen before.
        private func ask(_ app: SigningApp, _ header: String, path: String = "/api/v1/checkauthn") async throws -> Int {
            try await app.send("GET", path, ["deviceId": app.device, "requestor": "ACME1"], header: header).status
        }

        @Test("clients #9, #10, #12, #13: a pair is made, shown once, used strictly, joined by another, and disabled; its secret is nowhere in clear")
        func life() async throws {
            let made = try boxoffice("key", "make", "acme-tv", "--requestor", "ACME1", "--push")
            try #require(made.status == 0, "\(made.output)")
            let pair = ClusterFile.SigningPair(publicKey: try value("public key", made.lines), secret: try value("secret", made.lines))
            #expect(pair.publicKey.count == 24 && pair.secret.count == 40)
            let app = try SigningApp(pair: pair)
            let first = app.header("GET", "/checkauthn")
            try await Condition.wait("the pair counts") { try await ask(app, app.header("GET", "/checkauthn")) == 403 }
            #expect(try await ask(app, first) == 403, "signed in nowhere, but known")
            #expect(try await ask(app, first) == 401, "#12: a nonce serves once")
            #expect(try await ask(app, app.header("GET", "/checkauthn"), path: "/api/v1/tokens/authn") == 401, "#12: of another call")

            // Rotation with overlap: the app's next release carries another pair.
            let folder = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try Data("the next secret\n".utf8).write(to: folder)
            let next = ClusterFile.SigningPair(publicKey: "Next" + pair.publicKey.suffix(12), secret: "the next secret")
            let imported = try boxoffice("key", "import", "acme-tv", next.publicKey, "--file", folder.path, "--push")
            try #require(imported.status == 0 && !imported.output.contains(next.secret), "\(imported.output)")
            let later = try SigningApp(pair: next)
            let one = later.header("GET", "/checkauthn")
            try await Condition.wait("both count") { try await ask(later, one) == 403 }
            #expect(try await ask(later, one) == 403, "#5: one header for several calls, where the pair is not strict")
            #expect(try await ask(app, app.header("GET", "/checkauthn")) == 403)
            try Data("a wrong secret".utf8).write(to: folder)
            let again = try boxoffice("key", "import", "acme-tv", next.publicKey, "--file", folder.path, "--push")
            #expect(again.status != 0 && again.output.contains(next.publicKey), "\(again.output)")
            #expect(try await ask(later, later.header("GET", "/checkauthn")) == 403, "the secret of a pair that is there stays")
            let listed = try boxoffice("key", "list", "acme-tv")
            for line in ["\(pair.publicKey)  ACME1  enabled, strict, window 300 s", "\(next.publicKey)  ACME1,ACME2  enabled, lenient"] {
                #expect(listed.output.contains(line), "\(listed.output)")
            }
            #expect(!listed.output.contains(pair.secret) && !listed.output.contains(next.secret))

            let start = ContinuousClock.now
            #expect(try boxoffice("key", "disable", pair.publicKey, "--push").status == 0)
            try await Condition.wait("the pair counts no more") { try await ask(app, app.header("GET", "/checkauthn")) == 401 }
            #expect(ContinuousClock.now - start < .seconds(3), "a command, a push, and a second")
            #expect(try await ask(later, one) == 403)
            let home = try TestCluster.running().home
            for place in [home.data, home.logs] {
                for case let file as URL in FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil) ?? .init() {
                    guard let content = try? Data(contentsOf: file) else { continue }
                    for secret in [pair.secret, next.secret] { #expect(content.range(of: Data(secret.utf8)) == nil, "#10: \(file.path)") }
                }
            }
        }

        @Test("a client that is built into an app, and a statement that another vendor signed, are added by a command each, and work")
        func identitiesOfOldApps() async throws {
            let cluster = try TestCluster.running()
            let folder = FileManager.default.temporaryDirectory.appending(path: "identity-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            func token(_ id: String, _ secret: String) async throws -> HTTPAnswer {
                let fields = [("client_id", id), ("client_secret", secret), ("grant_type", "client_credentials")]
                return try await cluster.send(.form("/o/client/token", fields))
            }
            let (id, secret) = ("0b7c7c1e-\(UUID().uuidString.lowercased())", "the secret of an app of 2016")
            #expect(try await token(id, secret).status >= 400, "nobody knows the client yet")
            try Data("\(secret)\n".utf8).write(to: folder)
            let imported = try boxoffice("client", "import", "acme-tv", id, "--file", folder.path, "--push")
            try #require(imported.status == 0 && imported.output.contains(id) && !imported.output.contains(secret), "\(imported.output)")
            var bearer = ""
            try await Condition.wait("the client gets a token") {
                bearer = try await token(id, secret).object["access_token"] as? String ?? ""
                return !bearer.isEmpty
            }
            #expect(try await token(id, "another secret").status >= 400)
            let headers = ["Authorization": "Bearer \(bearer)", "X-Device-Info": Device.information]
            let status = try await cluster.send(
                Call("GET", "/api/v1/checkauthn", query: ["requestor": "ACME1", "deviceId": "old-tv"], headers: headers)
            ).status
            #expect(status == 403, "signed in nowhere, but known: \(status)")

            let statement = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhbm90aGVyIHZlbmRvciJ9.\(UUID().uuidString.replacing("-", with: ""))"
            func registration() async throws -> HTTPAnswer { try await cluster.send(.json("/o/client/register", ["software_statement": statement])) }
            #expect(try await registration().status == 400, "nobody knows the statement yet")
            try Data("\(statement)\n".utf8).write(to: folder)
            let added = try boxoffice("statement", "add", "acme-tv", folder.path, "--push")
            try #require(added.status == 0 && !added.output.contains(statement), "\(added.output)")
            try await Condition.wait("it registers") { try await registration().status == 201 }
            let client = try await registration().object
            let issued = try await token(client["client_id"] as? String ?? "", client["client_secret"] as? String ?? "")
            #expect(issued.object["access_token"] is String, "\(issued.text)")
            let again = try boxoffice("statement", "add", "acme-tv", folder.path, "--push")
            #expect(again.output.contains("acme-tv has it already"), "\(again.output)")
        }

        @Test("clients #13, #69, #102: what cannot be taken over is named, and nothing is changed")
        func refusals() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "identity-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try Data("a secret".utf8).write(to: folder)
            let before = try boxoffice("key", "list").output
            let wrong: [([String], String)] = [
                (["key", "import", "acme-tv", "bad key", "--file", folder.path], "8 to 64 letters and digits"),
                (["key", "import", "nobody", "AnotherPair2016", "--file", folder.path], "There is no such application"),
                (["key", "import", "acme-tv", "AcmeLegacyDemoPairOf2016", "--file", folder.path], "acme-legacy"),
                (["key", "disable", "NoSuchPair"], "no application has the key pair 'NoSuchPair'"),
                (["statement", "add", "acme-tv", folder.path], "holds no software statement"),
                (["key", "import", "acme-tv", "AnotherPair2016", "--file", "/absent"], "/absent"),
            ]
            for (arguments, expected) in wrong {
                let program = try TestCluster.running().starter.binaries.appendingPathComponent("boxoffice").path
                let home = try TestCluster.running().home.root.path
                let run = try Program.run("/usr/bin/env", ["BOXOFFICE_HOME=\(home)", program, "application"] + arguments)
                #expect(run.status != 0 && run.output.contains(expected), "\(arguments): \(run.output)")
            }
            #expect(try boxoffice("key", "list").output == before)
        }
    }
}
