internal import Clocks
internal import Cryptography
internal import Glibc
@testable internal import SamlProfile

/// Responses of identity providers. Octets that nobody signed are never accepted. A signed response of which an octet is changed says the same or is
/// refused.
///
/// The first byte chooses what is signed; three bytes of an edit follow, then the response. Behind a zero byte stands an assertion that is signed by
/// itself and takes the place of `@A@`. Or else it chooses a genuine response, and the rest changes that. Most responses that a fuzzer makes are
/// none, and would leave nothing to change. The key and the genuine responses, which the target signs, are in the folder `keys` beside the
/// executable.
enum SamlTarget {
    private static let now = Timestamp(seconds: 1_930_384_805)
    private static let folder =
        CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/keys"
    private static let key: SamlSigningKey = {
        do {
            return try SamlSigningKey(
                pem: String(decoding: read(folder + "/signing.pem"), as: UTF8.self), certificate: read(folder + "/certificate.der"))
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

    /// A response that is accepted, what it says, and what is expected of it.
    private struct Genuine {
        let octets: [UInt8]
        let says: VerifiedAssertion
        let expected: ExpectedResponse
    }

    private static let genuine: [Genuine] = ["assertion", "response", "both"].map { name in
        let seed = read(folder + "/" + name)
        let found = seed.withUnsafeBytes { bytes -> Genuine? in
            var input = Input(bytes)
            let choice = input.byte()
            _ = Edit(&input)
            let expected = expectation(choice)
            guard let octets = signed(&input, choice), let says = verified(octets, expected) else { return nil }
            return Genuine(octets: octets, says: says, expected: expected)
        }
        guard let found else { fatalError("the response in \(folder)/\(name) is not accepted") }
        return found
    }

    @Sendable static func run(_ input: inout Input) {
        let choice = input.byte()
        guard choice & 8 == 0 else { return change(genuine[Int(choice & 3) % genuine.count], &input) }
        let edit = Edit(&input)
        let expected = expectation(choice)
        guard choice & 4 != 0 else {
            check(verified(input.part(), expected) == nil, "a response that nobody signed was accepted")
            return
        }
        guard var octets = signed(&input, choice) else { return }
        let genuine = verified(octets, expected)
        if genuine != nil { noteTaken() }
        guard edit.apply(to: &octets) != nil else { return }
        let other = verified(octets, expected)
        check(other == nil || genuine == nil || other == genuine, "a changed response says something else")
    }

    /// Up to eight changes, each of octets anywhere: one is replaced, some are put in, taken out, or written again elsewhere.
    private static func change(_ genuine: Genuine, _ input: inout Input) {
        var octets = genuine.octets
        for _ in 0..<8 where !input.isEmpty {
            let kind = input.byte()
            let place = input.number() % max(octets.count, 1)
            switch kind & 3 {
            case 0: octets[place] = input.byte()
            case 1: octets.insert(contentsOf: input.part().prefix(512), at: place)
            case 2: octets.removeSubrange(place..<min(octets.count, place + 1 + Int(input.byte())))
            default:
                let from = input.number() % octets.count
                octets.insert(contentsOf: Array(octets[from..<min(octets.count, from + input.number() % 4096)]), at: place)
            }
            if octets.isEmpty { return }
        }
        noteTaken()
        let other = verified(octets, genuine.expected)
        check(other == nil || other == genuine.says, "a changed response says something else")
    }

    private static func expectation(_ choice: UInt8) -> ExpectedResponse {
        var expected = expected
        expected.signaturePolicy = choice & 3 == 1 ? .response : choice & 3 == 2 ? .both : .assertion
        return expected
    }

    /// The response that stands in the input, with its signatures; `nil` when it cannot be signed.
    private static func signed(_ input: inout Input, _ choice: UInt8) -> [UInt8]? {
        let response = input.part()
        let assertion = input.remainder()
        var text = String(decoding: response, as: UTF8.self)
        if choice & 3 != 1, !assertion.isEmpty {
            guard let signed = try? key.sign(String(decoding: assertion, as: UTF8.self)) else { return nil }
            text = String(decoding: Array(text.utf8).replacing("@A@", with: signed), as: UTF8.self)
        } else {
            text = String(decoding: Array(text.utf8).replacing("@A@", with: String(decoding: assertion, as: UTF8.self)), as: UTF8.self)
        }
        if choice & 3 != 0, choice & 3 != 3 {
            guard let signed = try? key.sign(text) else { return nil }
            text = signed
        }
        return text.utf8.count <= 64 * 1024 ? Array(text.utf8) : nil
    }

    /// The assertion; `nil` when there is none to be believed.
    private static func verified(_ octets: [UInt8], _ expected: ExpectedResponse) -> VerifiedAssertion? {
        guard let response = try? UnverifiedResponse(encoded: Base64.standard.encode(octets)) else { return nil }
        let finding = ResponseVerifier().explain(response, expecting: expected, at: now)
        switch finding.verdict {
        case .accepted(let assertion):
            check(finding.explanation.failure == nil, "an accepted response is explained as a failure")
            check(!assertion.userID.rawValue.isEmpty && !assertion.replayKey.assertionID.isEmpty, "an assertion about nobody")
            guard case .accepted(let again) = ResponseVerifier().verify(response, expecting: expected, at: now).verdict else {
                fatalError("a second verification differs")
            }
            check(again == assertion, "a second verification differs")
            return assertion
        case .rejected(let rejection):
            // Not always the first: of two signatures, the first may fail a late check, and the second an early one.
            check(
                finding.explanation.steps.contains { $0.outcome == .failed && $0.reason == rejection.reason.rawValue },
                "a refusal is explained by other reasons")
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
