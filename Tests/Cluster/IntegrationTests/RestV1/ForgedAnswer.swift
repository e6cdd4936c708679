@testable import ClusterCommands
@testable import CommandKit
import Foundation
import SamlSigner
import Testing

/// An answer of `NorthCable` that the sandbox would not give, signed with the MVPD's key.
struct ForgedAnswer {
    private var response = ResponseTemplate()
    private let identity: SignerIdentity

    /// - Parameter page: The sandbox's own answer to the same request; addresses and names are taken from it.
    init(insteadOf page: Browser.Page) throws {
        let genuine = try Self.decoded(page)
        let keys = try TestCluster.running().standInKeys
        identity = try SignerIdentity(
            privateKeyPEM: String(contentsOf: keys.appendingPathComponent("sandbox-northcable.key"), encoding: .utf8),
            certificatePEM: String(contentsOf: keys.appendingPathComponent("sandbox-northcable.crt"), encoding: .utf8))
        let now = Date()
        let consumer = try Self.first(/Destination="([^"]+)"/, genuine)
        let request = try Self.first(/InResponseTo="([^"]+)"/, genuine)
        let issuer = try Self.first(/<saml:Issuer[^>]*>([^<]+)</, genuine)
        response.id = "_" + UUID().uuidString
        response.issueInstant = Self.text(now)
        response.destination = consumer
        response.inResponseTo = request
        response.issuer = issuer
        var assertion = AssertionTemplate()
        assertion.id = "_" + UUID().uuidString
        assertion.issuer = issuer
        assertion.issueInstant = Self.text(now)
        assertion.nameID = try Self.first(/<saml:NameID[^>]*>([^<]+)</, genuine)
        assertion.confirmations[0].recipient = consumer
        assertion.confirmations[0].inResponseTo = request
        assertion.confirmations[0].notOnOrAfter = Self.text(now + 120)
        assertion.notBefore = Self.text(now - 30)
        assertion.notOnOrAfter = Self.text(now + 120)
        assertion.audiences = [[try Self.first(/<saml:Audience>([^<]+)</, genuine)]]
        assertion.authnInstant = Self.text(now)
        response.assertion = assertion
    }

    /// The MVPD ends the session at that moment, in whole seconds.
    mutating func endSession(at moment: Date) { response.assertion?.sessionNotOnOrAfter = Self.text(moment) }

    /// It claims to answer that request.
    mutating func answer(request: String) {
        response.inResponseTo = request
        response.assertion?.confirmations[0].inResponseTo = request
    }

    /// Signed, in Base64.
    func encoded() throws -> String { Data(try response.signed(by: identity).utf8).base64EncodedString() }

    /// The XML of the message that a page carries.
    static func decoded(_ page: Browser.Page) throws -> String {
        String(decoding: try #require(page.value("SAMLResponse").flatMap { Data(base64Encoded: $0) }), as: UTF8.self)
    }

    private static func first(_ pattern: Regex<(Substring, Substring)>, _ text: String) throws -> String {
        String(try #require(text.firstMatch(of: pattern)).1)
    }

    private static func text(_ moment: Date) -> String { moment.ISO8601Format() }
}

extension Device {
    /// Signs in with a session that the MVPD ends within three seconds.
    func signInBriefly() async throws {
        var browser = Browser(exchange: cluster.exchange)
        var page = try await browser.messagePage(self, code: try await code())
        var forged = try ForgedAnswer(insteadOf: page)
        forged.endSession(at: Date() + 3)
        page.form.fill("SAMLResponse", try forged.encoded())
        let answer = try await browser.back(try await browser.submit(page), to: self)
        try #require(answer.status == 302, "\(answer.text)")
    }
}
