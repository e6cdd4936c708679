import Clocks
import Foundation
import SamlProfile
import SamlSigner

/// The response that is verified, and everything that it is held against.
struct Subject {
    let xml: String
    let certificatePEM: String
    private let encoded: String
    private let expected: ExpectedResponse
    private static let now = Timestamp(seconds: 1_930_384_805)

    init() throws {
        let provider = try SignerIdentity()
        certificatePEM = provider.certificatePEM
        var template = ResponseTemplate()
        var assertion = AssertionTemplate()
        assertion.attributes +=
            AssertionTemplate.attribute("zip", ["10001"]) + AssertionTemplate.attribute("MaxTVRating", ["TV-PG"])
            + AssertionTemplate.attribute("channelID", ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"]) + AssertionTemplate.attribute("is_hoh", ["1"])
        template.assertion = assertion
        xml = try template.signed(by: provider)
        encoded = Data(xml.utf8).base64EncodedString()
        var expected = ExpectedResponse(
            requestID: ResponseTemplate.requestID, requestedAt: Self.now - .seconds(30),
            assertionConsumerServiceURL: ResponseTemplate.assertionConsumerService,
            issuer: .direct(entityID: ResponseTemplate.identityProvider), serviceProviderEntityID: ResponseTemplate.serviceProvider,
            issuerSent: ResponseTemplate.serviceProvider, pinnedCertificates: [try PinnedCertificate(der: provider.certificateDER)],
            nameIDFormats: ["urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"])
        expected.attributeMap = [
            AttributeMapping(source: "householdID", target: "householdID"), AttributeMapping(source: "zip", target: "zip", type: .list),
            AttributeMapping(source: "MaxTVRating", target: "maxRating.VCHIP"),
            AttributeMapping(source: "channelID", target: "channelID", type: .list),
            AttributeMapping(source: "is_hoh", target: "is_hoh", type: .boolean),
        ]
        self.expected = expected
    }

    /// Base64 to verdict and explanation, as a sign-in has them, per second of processor time, on this thread.
    func rate(seconds: Double) throws -> Double {
        let start = Self.processorTime
        var done = 0
        while Self.processorTime - start < seconds {
            for _ in 0..<50 {
                let answer = ResponseVerifier().explain(try UnverifiedResponse(encoded: encoded), expecting: expected, at: Self.now)
                guard case .accepted = answer.verdict else { throw CocoaError(.featureUnsupported) }
            }
            done += 50
        }
        return Double(done) / (Self.processorTime - start)
    }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
