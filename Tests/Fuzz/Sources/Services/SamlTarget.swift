internal import Clocks
internal import Cryptography
internal import Glibc
@testable internal import SamlProfile

/// Responses of identity providers: octets that nobody signed are never accepted, and a signed response of which an octet is changed says the same or is refused.
///
/// The first byte chooses what is signed; three bytes of an edit follow, then the response. Behind a zero byte stands an assertion that is signed by itself and
/// takes the place of `@A@`. The key is that of the folder `keys` beside the executable.
enum SamlTarget {
    private static let now = Timestamp(seconds: 1_930_384_805)
    private static let key: SigningKey = {
        let folder = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/keys"
        do {
            return try SigningKey(pem: String(decoding: read(folder + "/signing.pem"), as: UTF8.self), certificate: read(folder + "/certificate.der"))
        } catch {
            fatalError("the key in \(folder) cannot be used: \(error)")
        }
    }()
    private static let expected: ExpectedResponse = {
        guard let pinned = try? PinnedCertificate(der: key.certificate) else { fatalError("the certificate cannot be used") }
        var expected = ExpectedResponse(
            requestID: "_request-1", requestedAt: now - .seconds(30),
            assertionConsumerServiceURL: "https://sp.pass.example/sp/saml/SAMLAssertionConsumer",
            issuer: .direct(entityID: "https://idp.harbor.example/metadata"), serviceProviderEntityID: "https://saml.sp.pass.example",
            issuerSent: "https://saml.sp.pass.example/on-behalf-of/NEWSBRAND", pinnedCertificates: [pinned],
            nameIDFormats: ["urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"])
        expected.attributeMap = [
            AttributeMapping(source: "householdID", target: "householdID"), AttributeMapping(source: "zip", target: "zip", type: .list),
            AttributeMapping(source: "is_hoh", target: "is_hoh", type: .boolean), AttributeMapping(source: "", target: "userID"),
        ]
        return expected
    }()

    @Sendable static func run(_ input: inout Input) {
        let choice = input.byte()
        let edit = Edit(&input)
        let response = input.part()
        let assertion = input.remainder()
        var expected = expected
        expected.signaturePolicy = choice & 3 == 1 ? .response : choice & 3 == 2 ? .both : .assertion
        guard choice & 4 != 0 else {
            check(verified(response, expected) == nil, "a response that nobody signed was accepted")
            return
        }
        var text = String(decoding: response, as: UTF8.self)
        if choice & 3 != 1, !assertion.isEmpty {
            guard let signed = try? key.sign(String(decoding: assertion, as: UTF8.self)) else { return }
            text = String(decoding: Array(text.utf8).replacing("@A@", with: signed), as: UTF8.self)
        } else {
            text = String(decoding: Array(text.utf8).replacing("@A@", with: String(decoding: assertion, as: UTF8.self)), as: UTF8.self)
        }
        if choice & 3 != 0, choice & 3 != 3 {
            guard let signed = try? key.sign(text) else { return }
            text = signed
        }
        var octets = Array(text.utf8)
        guard octets.count <= 64 * 1024 else { return }
        let genuine = verified(octets, expected)
        if genuine != nil { noteTaken() }
        guard edit.apply(to: &octets) != nil else { return }
        let other = verified(octets, expected)
        check(other == nil || genuine == nil || other == genuine, "a changed response says something else")
    }

    /// The assertion; `nil` when there is none to be believed.
    private static func verified(_ octets: [UInt8], _ expected: ExpectedResponse) -> VerifiedAssertion? {
        guard let response = try? UnverifiedResponse(encoded: Base64.standard.encode(octets)) else { return nil }
        let (report, explanation) = ResponseVerifier().explain(response, expecting: expected, at: now)
        switch report.verdict {
        case .accepted(let assertion):
            check(explanation.failure == nil, "an accepted response is explained as a failure")
            check(!assertion.userID.rawValue.isEmpty && !assertion.replayKey.assertionID.isEmpty, "an assertion about nobody")
            guard case .accepted(let again) = ResponseVerifier().verify(response, expecting: expected, at: now).verdict else {
                fatalError("a second verification differs")
            }
            check(again == assertion, "a second verification differs")
            return assertion
        case .rejected(let rejection):
            check(explanation.failure?.reason == rejection.reason.rawValue, "a refusal is explained by another reason")
            return nil
        case .status: return nil
        }
    }

    private static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "rb") else { fatalError("\(path) cannot be read; Tests/Fuzz/run makes it") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }
}
