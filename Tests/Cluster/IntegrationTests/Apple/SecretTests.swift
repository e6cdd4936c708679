@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AppleTests {
    /// Secrets that must not be in any file (apple §4 I3).
    @Suite("Secrets of Apple sign-ins")
    struct SecretTests {
        /// Every file of the cluster's state and logs.
        private static func files(_ home: ClusterHome) throws -> [URL] {
            let keys: [URLResourceKey] = [.isRegularFileKey]
            return try [home.data, home.logs].flatMap { folder in
                let all = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: keys))
                return all.compactMap { $0 as? URL }.filter { (try? $0.resourceValues(forKeys: Set(keys)).isRegularFile) == true }
            }
        }

        /// The secrets that a file holds in clear.
        private static func found(_ secrets: [String], in file: URL) -> [String] {
            guard let content = try? Data(contentsOf: file, options: .mappedIfSafe) else { return [] }
            return secrets.filter { content.range(of: Data($0.utf8)) != nil }
        }

        @Test("apple #36 #85: no value, token, code or secret is in any store, log or answer of the control routes")
        func nowhere() async throws {
            let apple = try StandInApple.running()
            var secrets: Set<String> = []
            // Automatic Sign-In: issue, store, redeem, rotate, redeem, revoke.
            let (app, optIn) = try await AppleApp.optedIn()
            secrets.insert(optIn.value)
            let second = try await app.another()
            try await second.signInBy(optIn.value)
            #expect(try await AppleBackend.make().rotate(optIn.family).status == 200)
            try await Condition.wait("Apple has the new value", within: .seconds(30)) { try await app.apple.token().value != optIn.value }
            let rotated = try #require(try await app.apple.token().value)
            secrets.insert(rotated)
            try await app.another().signInBy(rotated)
            #expect(try await second.redeem("asi1.AAAAAAAAAAAAAAAAAAAAAA.\(String(repeating: "B", count: 43))").status == 401)
            #expect(try await app.optOut(optIn.family).status == 200)
            try await Condition.wait("Apple has none", within: .seconds(30)) { try await app.apple.token().value == nil }
            #expect(try await second.redeem(rotated).code == "token_revoked")
            // Sign in with Apple: native twice, a refusal, a ticket, the closing of the account.
            let person = try await SignInApp.make()
            let credential = try await person.credential()
            secrets.formUnion([credential.identityToken, credential.nonce, try #require(credential.code)])
            let question = try await person.send(credential, create: false)
            let ticket = try #require(question.ticket)
            secrets.insert(ticket)
            #expect(try await person.send(ticket: ticket).status == 200)
            #expect(try await person.send(credential).status == 401)
            try await person.signedIn()
            secrets.insert(person.device.accessToken)
            secrets.formUnion(try await apple.secrets())
            try #require(secrets.count > 15 && secrets.allSatisfy { $0.utf8.count >= 16 })
            let cluster = app.device.cluster
            let files = try Self.files(cluster.home)
            for service in ["autosignin", "authentication", "gateway"] {
                #expect(files.contains { $0.path.contains("/data/\(service)/") || $0.lastPathComponent == "\(service).log" })
            }
            for file in files { #expect(Self.found(Array(secrets), in: file).isEmpty, "\(file.path) holds a secret") }
            let log = try await apple.send("GET", "/_control/log").text
            #expect(secrets.allSatisfy { !log.contains($0) })
        }

        @Test("apple #85: the search finds a secret that is there")
        func searchWorks() throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data([0, 1, 2] + Array("asi1.x.y".utf8) + [0, 9]).write(to: file)
            #expect(Self.found(["asi1.x.y", "asi1.x.z"], in: file) == ["asi1.x.y"])
        }
    }
}
