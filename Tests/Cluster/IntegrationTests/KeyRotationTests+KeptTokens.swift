@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import Testing
import Tokens

/// Keys of the tokens that apps of the vendor's SDKs keep, and of what is sealed in them (Shared/Documents/Specs/clients.md §3).
extension KeyRotationTests {
    /// A key file in a service's data folder.
    private struct KeptKey {
        let service: ClusterService
        let file: URL
        /// The name in the log's events `NAME.reloaded` and `NAME.reload_refused`.
        let name: String
        /// In the service's settings.
        let olderSetting: String
        let content: Data

        init(_ service: ClusterService, _ fileName: String, named name: String, older: String) throws {
            file = try TestCluster.running().home.data.appendingPathComponent("\(service.rawValue)/\(fileName)")
            (self.service, self.name, olderSetting) = (service, name, older)
            content = try Data(contentsOf: file)
        }

        /// Writes files, and waits until the services have logged the result of the reload.
        static func write(_ contents: [(key: KeptKey, content: Data)], until event: String = "reloaded") async throws {
            let before = try contents.map { try $0.key.count(event) }
            for (key, content) in contents { try content.write(to: key.file, options: .atomic) }
            for ((key, _), before) in zip(contents, before) {
                try await Condition.wait("\(key.name) of \(key.service.rawValue): \(event)") { try key.count(event) > before }
            }
        }

        private func count(_ event: String) throws -> Int {
            try KeyRotationTests.log(of: service).split(separator: "\n").count { $0.contains("\"\(name).\(event)\"") }
        }
    }

    private static func keptKeys() throws -> (sessions: KeptKey, permits: KeptKey, seal: KeptKey) {
        (
            try KeptKey(.authentication, "sdk-token.key", named: "sdk_token_keys", older: "olderSdkTokenKeys"),
            try KeptKey(.authorization, "sdk-token.key", named: "sdk_token_keys", older: "olderSdkTokenKeys"),
            try KeptKey(.authentication, "sdk-seal.key", named: "sdk_seal_keys", older: "olderSdkSealKeys")
        )
    }

    /// The values that an app keeps.
    private struct Kept {
        let app: SdkApp
        let session: String
        let permit: String

        static func signIn() async throws -> Kept {
            let app = try await SdkApp.web()
            let session = try await app.signedIn()
            return Kept(app: app, session: session, permit: try await app.permit(session))
        }

        /// True when the session's token, the permit's token and the device's seal are each accepted.
        func counts() async throws -> [Bool] {
            let decided = try await app.authorize(session)
            try #require(decided.text.contains("authzToken") != decided.isPendingLogout, "\(decided.status) \(decided.text)")
            let media = try await app.shortAuthorize(permit)
            try #require((try app.verdict(media) == .valid) != media.isPendingLogout, "\(media.status) \(media.text)")
            let device = try await SdkApp.identify("anything", seal: app.seal)
            return [!decided.isPendingLogout, !media.isPendingLogout, device.object["deviceId"] as? String == app.deviceID]
        }

        /// The names of the published keys that signed the tokens.
        func signers() async throws -> [String?] {
            let keys = try await KeyRotationTests.published()
            return try [session, permit].map { token in
                let parts = token.components(separatedBy: "</signatureInfo>")
                try #require(parts.count == 2)
                let signature = try #require(Base64.standard.decode(parts[0].replacingOccurrences(of: "<signatureInfo>", with: "")))
                return keys.first { key in
                    guard case .p256(let key) = key.publicKey else { return false }
                    return key.isValid(signature, for: Array(parts[1].utf8))
                }?.identifier
            }
        }
    }

    private static func published() async throws -> [JSONWebKey] {
        let answer = try await TestCluster.running().send(Call("GET", "/.well-known/sdk-token-keys"))
        return try JSONWebKeySet(json: answer.text).keys
    }

    private static let all = [true, true, true]

    @Test("clients #71: other keys of kept tokens: their tokens are good before they sign, and no longer when the files from before are back")
    func keptTokensBeforeTheyAreSigned() async throws {
        let (sessions, permits, _) = try Self.keptKeys()
        let kept = try await Kept.signIn()
        let (sessionKey, permitKey) = (try P256PrivateKey.generate(), try P256PrivateKey.generate())
        let early = Kept(
            app: kept.app, session: try Self.resigned(kept.session, by: sessionKey), permit: try Self.resigned(kept.permit, by: permitKey))
        #expect(try await early.counts() == [false, false, true], "nobody knows the keys yet")

        try await KeptKey.write([(sessions, Data(try sessionKey.pem().utf8)), (permits, Data(try permitKey.pem().utf8))])
        #expect(try await early.counts() == Self.all)
        #expect(try await kept.counts() == Self.all)
        #expect(try await Self.published().count == 4, "old and new, of both services")
        #expect(try await Kept.signIn().signers() == kept.signers(), "what signs are the keys from before, for the lead time")

        try await KeptKey.write([(sessions, sessions.content), (permits, permits.content)])
        #expect(try await early.counts() == [false, false, true], "the keys are known no more")
        #expect(try await kept.counts() == Self.all)
        #expect(try await Self.published().count == 2)
    }

    @Test("clients #71: other keys and another seal of kept tokens take over and back: all stay good, past a restart those whose keys are named")
    func keptTokens() async throws {
        let cluster = try TestCluster.running()
        let settings = try [ClusterService.authentication, .authorization].map { ($0, try cluster.settings(of: $0)) }
        func restart(_ change: (ClusterService, inout [String: Any]) -> Void = { _, _ in }) async throws {
            for (service, original) in settings {
                try await cluster.restart(service) { settings in
                    var own = try #require(original[service.rawValue] as? [String: Any])
                    change(service, &own)
                    settings[service.rawValue] = own
                }
            }
        }
        // A key signs as soon as it is read.
        try await restart { $1[$0 == .authentication ? "accessTokenKeyLead" : "keyLeadSeconds"] = 0 }
        let (sessions, permits, seal) = try Self.keptKeys()
        let first = try await Kept.signIn()
        let next: [(key: KeptKey, content: Data)] = [
            (sessions, Data(try P256PrivateKey.generate().pem().utf8)), (permits, Data(try P256PrivateKey.generate().pem().utf8)),
            (seal, Data(SymmetricKey.random().hexRepresentation.utf8)),
        ]
        try await KeptKey.write(next)
        let second = try await Kept.signIn()
        let signers = try await first.signers() + second.signers()
        #expect(Set(signers.compactMap { $0 }).count == 4, "old and new of both services sign and are published: \(signers)")
        #expect(try await Self.published().count == 4)
        for kept in [first, second] { #expect(try await kept.counts() == Self.all) }

        try await KeptKey.write(next.map { ($0.key, Data("broken".utf8)) }, until: "reload_refused")
        for kept in [first, second, try await Kept.signIn()] { #expect(try await kept.counts() == Self.all, "nothing has changed") }
        #expect(try await Self.published().count == 4)

        try await KeptKey.write(next.map { ($0.key, $0.key.content) })
        #expect(try await Kept.signIn().signers() == first.signers(), "the keys from before sign again")
        for kept in [first, second] { #expect(try await kept.counts() == Self.all) }

        let folder = cluster.home.root.appendingPathComponent("former-keys")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var former: [ClusterService: [String: [String]]] = [:]
        for (key, content) in next {
            let file = folder.appendingPathComponent("\(key.service.rawValue)-\(key.file.lastPathComponent)")
            try content.write(to: file)
            former[key.service, default: [:]][key.olderSetting] = [file.path]
        }
        try await restart { $1.merge(former[$0] ?? [:]) { $1 } }
        for kept in [first, second] { #expect(try await kept.counts() == Self.all, "the keys between are named") }
        try await restart()
        #expect(try await first.counts() == Self.all)
        #expect(try await second.counts() == [false, false, false], "the keys between are named no more")
    }

    /// The same content under another key.
    private static func resigned(_ token: String, by key: P256PrivateKey) throws -> String {
        let content = try #require(token.components(separatedBy: "</signatureInfo>").last)
        return "<signatureInfo>\(Base64.standard.encode(try key.sign(Array(content.utf8))))</signatureInfo>\(content)"
    }
}
