import Clocks
import Foundation
import SamlProfile
import SamlSigner
import Testing

/// What an assertion says of itself: its form, how long it must be remembered, and its statements of a sign-in (mvpd §2.3).
struct AssertionRuleTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    private func instant(_ seconds: Int64) -> String {
        ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: Double(World.now.seconds + seconds)))
    }

    /// A response whose assertion was rewritten before it was signed.
    private func rewritten(_ change: (String) -> String, _ template: AssertionTemplate = AssertionTemplate()) throws -> String {
        let text = template.xml
        let changed = change(text)
        #expect(changed != text, "the test changes nothing")
        let signed = try Signer.sign(changed, signatureOf: "Assertion", with: world.identityProvider)
        return try world.response { $0.content = signed }
    }

    @Test("step 24: an assertion of another version or of none is refused; one that is issued ahead by the clocks' difference is accepted")
    func checksForm() throws {
        #expect(try world.outcome(try rewritten { $0.replacing("Version=\"2.0\"", with: "Version=\"1.1\"") }) == "assert.form")
        #expect(try world.outcome(try rewritten { $0.replacing("Version=\"2.0\" ", with: "") }) == "assert.form")
        #expect(try world.outcome(try world.assertion { $0.issueInstant = instant(60) }) == "OK")
    }

    @Test("steps 28 and 29: an assertion without conditions, or with two sets of them, is for nobody")
    func needsOneSetOfConditions() throws {
        func conditions(_ change: (String) -> String) throws -> String {
            try rewritten { text in
                guard let start = text.range(of: "<saml:Conditions"), let end = text.range(of: "</saml:Conditions>") else { return text }
                let range = start.lowerBound..<end.upperBound
                return text.replacingCharacters(in: range, with: change(String(text[range])))
            }
        }
        #expect(try world.outcome(try conditions { _ in "" }) == "audience")
        #expect(try world.outcome(try conditions { $0 + $0 }) == "audience")
    }

    @Test("step 31: an assertion is remembered until the last of its ends, also of a confirmation for others, and the clocks' difference more")
    func remembersUntilItsLastEnd() throws {
        func remembered(_ change: (inout AssertionTemplate) -> Void) throws -> Duration {
            try world.accepted(try world.assertion(change)).replayKey.expiresAt - World.now
        }
        #expect(try remembered { $0.notOnOrAfter = instant(600) } == .seconds(660))
        #expect(try remembered { $0.notOnOrAfter = nil } == .seconds(355))
        #expect(
            try remembered {
                $0.notOnOrAfter = instant(100)
                $0.confirmations[0].notOnOrAfter = instant(200)
            } == .seconds(260))
        #expect(
            try remembered { assertion in
                var other = AssertionTemplate.Confirmation()
                (other.recipient, other.notOnOrAfter) = ("https://other.example", instant(900))
                assertion.confirmations += [other, AssertionTemplate.Confirmation()]
            } == .seconds(960))
    }

    @Test("step 30: of several statements the first names the session, and the earliest end counts")
    func readsSeveralStatements() throws {
        func statement(_ index: String, _ begun: Int64, end: Int64?) -> String {
            let end = end.map { " SessionNotOnOrAfter=\"\(instant($0))\"" } ?? ""
            return "<saml:AuthnStatement AuthnInstant=\"\(instant(begun))\" SessionIndex=\"\(index)\"\(end)/>"
        }
        func response(_ statements: String...) throws -> String {
            var bare = AssertionTemplate()
            bare.hasAuthnStatement = false
            return try rewritten({ $0.replacing("<saml:AttributeStatement>", with: statements.joined() + "<saml:AttributeStatement>") }, bare)
        }
        for ends in [[nil, 100, 200], [200, nil, 100], [100, 200, nil]] as [[Int64?]] {
            let assertion = try world.accepted(
                try response(statement("a", -20, end: ends[0]), statement("b", -10, end: ends[1]), statement("c", -5, end: ends[2])))
            #expect(assertion.sessionIndex == "a" && assertion.authnInstant == World.now - .seconds(20))
            #expect(assertion.sessionNotOnOrAfter == World.now + .seconds(100))
        }
        #expect(try world.outcome(try response(statement("a", -20, end: nil), statement("b", 61, end: nil))) == "authn")
        #expect(try world.outcome(try response(statement("a", -20, end: 100), statement("b", -10, end: 0))) == "authn")
        #expect(try world.outcome(try response("<saml:AuthnStatement SessionIndex=\"a\"/>")) == "authn", "it has no time")
    }
}
