internal import SandboxKit
internal import CSandboxXml
internal import Clocks

/// A question as it came, in one of the forms of mvpd §4.1.
struct DecisionMessage: Sendable {
    enum Form: String, Sendable {
        case json, xml, soap, rest
    }

    /// What the SAML layer of the SOAP form contained.
    struct Query: Sendable {
        let identifier: String
        let issuer: String
    }

    let form: Form
    var request: XacmlRequest
    var query: Query?
    /// Whether its signature verified; a bearer token may replace the signature.
    var isSigned = false
}

/// Takes questions apart.
struct DecisionMessageReader: Sendable {
    /// How old or how far ahead a query may be.
    private static let tolerance = Duration.seconds(300)

    let serviceProvider: ServiceProvider
    /// The address that queries must name as their destination.
    let destination: String
    /// Whether a query must be signed when no access token comes with it.
    let validateRequests: Bool

    /// - Parameters:
    ///   - type: The content type, without parameters; what is not JSON is XML.
    ///   - hasBearer: Whether an access token came with it.
    /// - Throws: `SettingsFault` that says what is wrong.
    func read(_ octets: [UInt8], type: String, hasBearer: Bool, at now: Timestamp) throws(SettingsFault) -> DecisionMessage {
        if type == XacmlNames.mediaType { return DecisionMessage(form: .json, request: try XacmlRequest(json: octets)) }
        do {
            let root = try XmlElement(parsing: octets)
            if root.name != "Envelope" || root.namespace != XmlNames.soap { return DecisionMessage(form: .xml, request: try XacmlRequest(xml: root)) }
            return try soap(octets, hasBearer, now)
        } catch let refusal as XmlRefusal {
            throw SettingsFault(key: "", problem: refusal.reason)
        } catch let refusal as RequestRefusal {
            throw SettingsFault(key: "", problem: refusal.code)
        } catch let fault as SettingsFault {
            throw fault
        } catch {
            throw SettingsFault(key: "", problem: "cannot be read")
        }
    }

    // Only what was digested is read when the query is signed.
    private func soap(_ envelope: [UInt8], _ hasBearer: Bool, _ now: Timestamp) throws -> DecisionMessage {
        var octets = try XmlRefusal.octets { csandbox_soap_content(envelope, envelope.count, $0) }
        let isSigned = try !XmlElement(parsing: octets).children("Signature", in: XmlNames.signature).isEmpty
        if isSigned {
            octets = try XmlSignature.verified(octets, with: serviceProvider.signingCertificate)
        } else if validateRequests, !hasBearer {
            throw RequestRefusal("sig.missing", "The query is not signed.")
        }
        let root = try XmlElement(parsing: octets)
        guard root.name == "XACMLAuthzDecisionQuery", root.namespace == XmlNames.decisionProtocol, root.attributes["Version"] == "2.0",
            let identifier = root.attributes["ID"], !identifier.isEmpty
        else { throw RequestRefusal("xml.root", "The message is not a decision query.") }
        guard let issued = root.attributes["IssueInstant"].flatMap(Instant.parse), issued > now - Self.tolerance, issued < now + Self.tolerance else {
            throw RequestRefusal("req.stale", "The query is not of this time.")
        }
        guard root.attributes["Destination"] == destination else { throw RequestRefusal("req.destination", "The query is for another address.") }
        let issuer = root.only("Issuer", in: XmlNames.assertion)?.text ?? ""
        guard serviceProvider.isIssuer(issuer) else { throw RequestRefusal("issuer", "The issuer is not the service provider.") }
        guard let request = root.only("Request", in: XmlNames.decisionContext) else { throw RequestRefusal("xml.form", "The query has no request.") }
        return DecisionMessage(
            form: .soap, request: try XacmlRequest(xml: request), query: .init(identifier: identifier, issuer: issuer), isSigned: isSigned)
    }
}
