internal import Clocks
internal import CXmlSec

/// The run of one response through the checks of mvpd §2.3.
struct ResponseVerification {
    let expected: ExpectedResponse
    let now: Timestamp
    var trace = CheckTrace()
    /// The library's message about the last signature or decryption that failed.
    var diagnostic: String?
    /// The root of the received document and of the decrypted one, as far as there were any; for explanations only.
    var receivedRoot: XmlElement?
    var decryptedRoot: XmlElement?
    /// True when a signature failed because its content is not what was signed.
    var digestDiffers = false

    static let lacksAssertion = "The response is a success without an assertion."

    init(expecting expected: ExpectedResponse, at now: Timestamp) {
        self.expected = expected
        self.now = now
        for check in [Check.size, .base64] { trace.pass(check) }
    }

    mutating func report(on response: UnverifiedResponse) -> ResponseReport {
        let verdict: ResponseVerdict
        do {
            verdict = try run(response)
        } catch {
            verdict = .rejected(error)
        }
        return ResponseReport(verdict: verdict, trace: trace, diagnostic: diagnostic, digestDiffers: digestDiffers)
    }

    private mutating func run(_ response: UnverifiedResponse) throws(SamlRejection) -> ResponseVerdict {
        let received = try structure(of: response)
        let signed = try verifySignatures(of: received)
        let assertion = try decryptIfNeeded(signed)
        if let status = try checkResponse(signed) { return .status(status) }
        guard let assertion else { throw trace.fail(.assertionForm, .assertionForm, Self.lacksAssertion) }
        return .accepted(try checkAssertion(assertion))
    }

    /// Parses octets under the limits of step 5.
    mutating func parse(_ octets: [UInt8]) throws(SamlRejection) -> ParsedDocument {
        do {
            let document = try ParsedDocument.parse(octets)
            trace.pass(.form)
            return document
        } catch {
            throw trace.fail(.form, error.rejection.reason, error.rejection.explanation)
        }
    }

    /// The text of an element with a text value (mvpd §2.3, reading text).
    mutating func text(of element: XmlElement, _ check: Check) throws(SamlRejection) -> String {
        guard let text = element.text else { throw trace.fail(check, .form, "An element whose value is text holds something else.") }
        return text
    }

    /// The moment in an attribute; nil when there is none. One that cannot be read is never taken as absent (SAML core §1.3.3).
    mutating func instant(
        _ name: StaticString, of element: XmlElement, _ check: Check, _ reason: RejectionReason
    ) throws(SamlRejection) -> Timestamp? {
        guard let text = element.attribute(name) else { return nil }
        if let problem = SamlInstant.problem(text) { throw trace.fail(check, reason, "\(name) \(problem).") }
        return SamlInstant.parse(text)
    }

    mutating func keepDiagnostic() {
        diagnostic = cxs_last_complaint().map { String(cString: $0) }
    }
}
