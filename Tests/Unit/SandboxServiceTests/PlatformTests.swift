import Clocks
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The stand-in Apple (mvpd §5 item 2).
@Suite struct PlatformTests {
    private let fixture = Fixture()

    @Test func anAccountThatWasNeverSetGrantsNothing() async throws {
        try await run { client in
            let access = try await post(client, "/platform/access", #"{"account": "a"}"#)
            #expect(access["access"] as? String == "notDetermined")
            let metadata = try await post(client, "/platform/metadata", #"{"account": "a"}"#)
            #expect((metadata["error"] as? [String: Any])?["code"] as? Int == 0)
        }
    }

    @Test func theProviderAndItsLoginAreToldWithoutAskingTheMvpd() async throws {
        try await run { client in
            try await set(client, #"{"access": "granted", "provider": "north-cable", "authenticationSeconds": 60}"#)
            let metadata = try await post(client, "/platform/metadata", #"{"account": "a", "interruptionAllowed": false}"#)
            #expect(metadata["accountProviderIdentifier"] as? String == "north-cable")
            #expect(metadata["authenticationExpirationDate"] as? Int == Int((fixture.clock.now() + .seconds(60)).milliseconds))
            #expect(metadata["samlAttributeQueryResponse"] == nil)
        }
    }

    @Test func aPersonSignsInOnlyWhereThePlatformMayAsk() async throws {
        try await run { client in
            try await set(client, #"{"access": "granted", "pick": "north-cable"}"#)
            #expect(try await post(client, "/platform/metadata", #"{"account": "a"}"#).isEmpty)
            let asked = try await post(client, "/platform/metadata", #"{"account": "a", "interruptionAllowed": true}"#)
            #expect(asked["accountProviderIdentifier"] as? String == "north-cable")
            let later = try await post(client, "/platform/metadata", #"{"account": "a"}"#)
            #expect(later["accountProviderIdentifier"] as? String == "north-cable")
        }
    }

    @Test func aProviderThatIsOnlyListedIsUnsupported() async throws {
        try await run { client in
            try await set(client, #"{"access": "granted", "pick": "lake-tel"}"#)
            let metadata = try await post(client, "/platform/metadata", #"{"account": "a", "interruptionAllowed": true}"#)
            let problem = metadata["error"] as? [String: Any]
            #expect(problem?["code"] as? Int == 1 && problem?["unsupportedProviderIdentifier"] as? String == "lake-tel")
        }
    }

    @Test func aGoodTokenGetsACompactSignedAnswerWithTheAttributesAskedFor() async throws {
        try await run { client in
            try await set(client, Self.granted())
            let text = try #require(try await query(client, try token())["samlAttributeQueryResponse"] as? String)
            #expect(!text.contains("\n") && !text.contains("> <"))
            let answer = try Answer(text)
            #expect(answer.root.attributes["InResponseTo"] == "_request-1")
            #expect(answer.attribute("householdID").count == 1 && answer.attribute("zip").isEmpty)
            #expect(try answer.verifies("urn:oasis:names:tc:SAML:2.0:assertion:Assertion", certificate: "north.crt"))
        }
    }

    @Test func aTokenMayBeAQueryForAttributes() async throws {
        try await run { client in
            try await set(client, Self.granted())
            let text = try #require(try await query(client, try token { $0.queriedAttributes = ["zip"] })["samlAttributeQueryResponse"] as? String)
            let answer = try Answer(text)
            #expect(answer.root.attributes["InResponseTo"] == "_request-1")
            #expect(!text.contains("AuthnStatement"))
            #expect(answer.attribute("userID").count == 1 && answer.attribute("zip").count == 1 && answer.attribute("channelID").isEmpty)
            var named = AuthnRequestText(issuedAt: fixture.clock.now(), relayState: nil)
            named.queriedAttributes = ["zip"]
            named.subject = "<saml:NameID>ada</saml:NameID>"
            let refusal = try await query(client, try token(named))
            #expect((refusal["error"] as? [String: Any])?["code"] as? Int == 5, "\(refusal)")
        }
    }

    @Test func aTokenThatDoesNotHoldIsError5() async throws {
        try await run { client in
            try await set(client, Self.granted())
            let tokens = [
                "x", try token { $0.key = "stranger" }, try token { $0.issuer = "https://elsewhere.example" },
                try token { $0.destination = "https://elsewhere.example/sso" }, try token { $0.issuedAt = fixture.clock.now() - .seconds(600) },
                Data(AuthnRequestText(issuedAt: fixture.clock.now()).xml.utf8).base64EncodedString(),
            ]
            for token in tokens {
                let problem = try await query(client, token)["error"] as? [String: Any]
                #expect(problem?["code"] as? Int == 5, "\(token.prefix(40))")
            }
            let foreign = try await query(client, try token(), channel: "https://elsewhere.example")["error"] as? [String: Any]
            #expect(foreign?["code"] as? Int == 5)
        }
    }

    @Test(arguments: ["unsigned", "foreignSigner", "stale", "foreignRequest", "foreignAudience", "missingAttribute", "declined"])
    func aFlawShowsInTheAnswer(_ flaw: String) async throws {
        try await run { client in
            try await set(client, Self.granted(flaw))
            let answer = try Answer(try #require(try await query(client, try token())["samlAttributeQueryResponse"] as? String))
            let isSigned = try answer.verifies("urn:oasis:names:tc:SAML:2.0:assertion:Assertion", certificate: "north.crt")
            #expect(isSigned == !["unsigned", "foreignSigner", "declined"].contains(flaw))
            #expect((answer.root.attributes["InResponseTo"] == "_request-1") == (flaw != "foreignRequest"))
            #expect((answer.root.attributes["IssueInstant"] == Instant.text(fixture.clock.now())) == (flaw != "stale"))
            #expect(answer.attribute("userID").isEmpty == ["missingAttribute", "declined"].contains(flaw))
        }
    }

    @Test func whiteSpaceIsWhereItWasAskedFor() async throws {
        try await run { client in
            try await set(client, Self.granted("prettyPrinted"))
            let pretty = try #require(try await query(client, try token())["samlAttributeQueryResponse"] as? String)
            #expect(pretty.contains(">\n  <"))
            #expect(try Answer(pretty).verifies("urn:oasis:names:tc:SAML:2.0:assertion:Assertion", certificate: "north.crt"))
            try await set(client, Self.granted("brokenAttributes"))
            let broken = try #require(try await query(client, try token())["samlAttributeQueryResponse"] as? String)
            #expect((try? Answer(broken)) != nil && (try? Answer(broken.filter { $0 != "\n" })) == nil)
        }
    }

    @Test func identityTokensAreSignedByThePlatformsKey() async throws {
        try await run { client in
            let token = try #require(try await post(client, "/platform/identity-token", #"{"person": "ada"}"#)["token"] as? String)
            let parts = token.split(separator: ".").map(String.init)
            try #require(parts.count == 3)
            let payload = try #require(Base64.urlOctets(parts[1]))
            let claims = try #require(try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
            #expect(claims["iss"] as? String == "https://platform.example" && claims["aud"] as? String == "adobe")
            let certificate = try Certificate(pem: Array(Data(contentsOf: URL(filePath: Keys.shared.path("stranger.crt")))))
            let signature = try #require(Base64.urlOctets(parts[2]))
            try certificate.verify(signature, over: Array("\(parts[0]).\(parts[1])".utf8), digest: "SHA256")
        }
    }

    @Test func anUnknownKeyOrFlawIsRefused() async throws {
        try await run { client in
            for body in [#"{"acces": "granted"}"#, #"{"flaw": "none"}"#, "x"] {
                let status = try await client.execute(uri: "/platform/accounts/a", method: .put, body: ByteBuffer(string: body)) { $0.status }
                #expect(status == .badRequest)
            }
        }
    }

    // MARK: Parties

    private static let apple = """
        , "apple": {"listen": {"address": "127.0.0.1", "port": 0}, "identityIssuer": "https://platform.example", "identityKey": "stranger.key",
        "providers": [{"id": "north-cable", "mvpd": "NorthCable"}]}
        """

    private static func granted(_ flaw: String? = nil) -> String {
        let flaw = flaw.map { #", "flaw": "\#($0)""# } ?? ""
        return #"{"access": "granted", "provider": "north-cable"\#(flaw)}"#
    }

    private func run(_ test: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        var logger = Logger(label: "sandbox")
        logger.logLevel = .critical
        let settings = try Fixture.read(Fixture.settings(extra: Self.apple))
        let sandbox = try await Sandbox(settings: settings, clock: fixture.clock, logger: logger)
        try await (try #require(sandbox.appleApplication())).test(.live) { client in try await test(client) }
    }

    private func token(_ change: (inout AuthnRequestText) -> Void = { _ in }) throws -> String {
        var request = AuthnRequestText(issuedAt: fixture.clock.now(), relayState: nil)
        change(&request)
        return try token(request)
    }

    private func token(_ request: AuthnRequestText) throws -> String {
        try #require(try FormFields(encoded: try request.form()).single("SAMLRequest"))
    }

    private func set(_ client: any TestClientProtocol, _ state: String) async throws {
        let status = try await client.execute(uri: "/platform/accounts/a", method: .put, body: ByteBuffer(string: state)) { $0.status }
        try #require(status == .noContent)
    }

    private func query(
        _ client: any TestClientProtocol, _ token: String, channel: String = Fixture.entityID
    ) async throws -> [String: Any] {
        let body = """
            {"account": "a", "channelIdentifier": "\(channel)", "attributeNames": ["userID", "householdID"], "verificationToken": "\(token)"}
            """
        return try await post(client, "/platform/metadata", body)
    }

    private func post(_ client: any TestClientProtocol, _ path: String, _ body: String) async throws -> [String: Any] {
        let text = try await client.execute(uri: path, method: .post, body: ByteBuffer(string: body)) { response in
            try #require(response.status == .ok, "\(String(buffer: response.body))")
            return String(buffer: response.body)
        }
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }
}
