internal import CSandboxXml
internal import Clocks

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
        } catch let refusal as SamlRefusal {
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
            throw SamlRefusal("sig.missing", "The query is not signed.")
        }
        let root = try XmlElement(parsing: octets)
        guard root.name == "XACMLAuthzDecisionQuery", root.namespace == XmlNames.decisionProtocol, root.attributes["Version"] == "2.0",
            let identifier = root.attributes["ID"], !identifier.isEmpty
        else { throw SamlRefusal("xml.root", "The message is not a decision query.") }
        guard let issued = root.attributes["IssueInstant"].flatMap(Instant.parse), issued > now - Self.tolerance, issued < now + Self.tolerance else {
            throw SamlRefusal("req.stale", "The query is not of this time.")
        }
        guard root.attributes["Destination"] == destination else { throw SamlRefusal("req.destination", "The query is for another address.") }
        let issuer = root.only("Issuer", in: XmlNames.assertion)?.text ?? ""
        guard serviceProvider.isIssuer(issuer) else { throw SamlRefusal("issuer", "The issuer is not the service provider.") }
        guard let request = root.only("Request", in: XmlNames.decisionContext) else { throw SamlRefusal("xml.form", "The query has no request.") }
        return DecisionMessage(
            form: .soap, request: try XacmlRequest(xml: request), query: .init(identifier: identifier, issuer: issuer), isSigned: isSigned)
    }
}
