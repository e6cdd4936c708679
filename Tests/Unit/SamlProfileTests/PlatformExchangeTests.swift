import Clocks
import SamlProfile
import SamlSigner
import Testing

/// mvpd §2.8: what differs for an answer that a platform's framework passed on.
struct PlatformExchangeTests {
    private static let exchange = "https://sp.pass.example/api/v1/tokens/authn"
    private let world: World

    init() throws { world = try World.shared.get() }

    @Test("The answer may be addressed to the exchange, where one is named")
    func acceptsExchangeAddress() throws {
        let xml = try world.response { template in
            template.destination = Self.exchange
            template.assertion?.confirmations[0].recipient = Self.exchange
        }
        #expect(try world.outcome(xml) == "resp.destination")
        #expect(try world.outcome(xml, world.expected { $0.exchangeURL = Self.exchange }) == "OK")
        #expect(try world.outcome(world.response(), world.expected { $0.exchangeURL = Self.exchange }) == "OK")
        let elsewhere = try world.assertion { $0.confirmations[0].recipient = "https://elsewhere.example" }
        #expect(try world.outcome(elsewhere, world.expected { $0.exchangeURL = Self.exchange }) == "confirm")
    }

    @Test("Any request may be named where the framework asks by itself, but one must be")
    func acceptsAnyRequest() throws {
        let expected = try world.expected { $0.answeredRequest = .any }
        let xml = try world.response { template in
            template.inResponseTo = "_framework-1"
            template.assertion?.confirmations[0].inResponseTo = "_framework-1"
        }
        #expect(try world.outcome(xml) == "resp.request")
        #expect(try world.outcome(xml, expected) == "OK")
        #expect(try world.outcome(world.response { $0.inResponseTo = nil }, expected) == "unsolicited")
    }

    @Test("Without a known request the authn statement is optional, and the answer must be young")
    func acceptsWithoutStatement() throws {
        let expected = try world.expected { expected in
            expected.answeredRequest = .any
            expected.requiresAuthnStatement = false
            expected.maximumResponseAge = .seconds(3600)
        }
        let xml = try world.assertion { $0.hasAuthnStatement = false }
        #expect(try world.outcome(xml) == "authn")
        #expect(try world.accepted(xml, expected).authnInstant == nil)
        #expect(try world.outcome(world.response(), expected, at: World.now + .seconds(356)) == "resp.stale")
    }

    @Test("mvpd #86: a message whose white space was collapsed does not verify, and it shows where to look")
    func suspectsWhitespace() throws {
        let pretty = try world.response { $0.assertion?.attributes += "\n  " + AssertionTemplate.attribute("zip", ["10001"]) }
        #expect(try world.outcome(pretty) == "OK")
        let report = try world.report(pretty.replacing("\n  ", with: " "))
        guard case .rejected(let rejection) = report.verdict else { throw NotAccepted(reason: "it was accepted") }
        #expect(rejection.reason == .signatureInvalid && report.digestDiffers)
        let stranger = try ResponseTemplate().signed(by: world.stranger)
        #expect(try world.report(stranger).digestDiffers == false)
    }

    @Test("The claimed request can be read before anything is checked")
    func readsClaimedRequest() throws {
        func claimed(_ xml: String) -> String {
            do throws(SamlRejection) {
                return try UnverifiedResponse(encoded: base64(xml)).claimedRequestID()
            } catch {
                return error.reason.rawValue
            }
        }
        #expect(try claimed(world.response()) == ResponseTemplate.requestID)
        #expect(try claimed(world.response { $0.inResponseTo = nil }) == "unsolicited")
        #expect(claimed("<Response InResponseTo='_1'/>") == "xml.root")
        #expect(claimed("<!DOCTYPE x><x InResponseTo='_1'/>") == "xml.dtd")
        #expect(claimed("<x a='1'InResponseTo='_1'/>") == "xml.form")
    }

    @Test("Names of attributes count when they have a value, mapped or not")
    func namesAttributes() throws {
        let xml = try world.assertion { assertion in
            assertion.attributes =
                AssertionTemplate.attribute("uid", ["7"]) + AssertionTemplate.attribute("empty", [""]) + AssertionTemplate.attribute("none", [])
        }
        #expect(try world.accepted(xml).attributeNames == ["uid"])
    }
}
