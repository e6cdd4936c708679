internal import CSandboxXml
internal import Clocks
internal import SandboxKit

/// A question as it came, in one of the forms of mvpd §4.1.
struct DecisionMessage: Sendable {
    enum Form: String, Sendable {
        case json, xml, soap, rest
    }

    /// The content of the SOAP form's SAML layer.
    struct Query: Sendable {
        let identifier: String
        let issuer: String
    }

    let form: Form
    var request: XacmlRequest
    var query: Query?
    /// True when its signature verified; a bearer token may replace the signature.
    var isSigned = false
}

/// Takes questions apart.
struct DecisionMessageReader: Sendable {
    /// How old or how far ahead a query may be.
    private static let tolerance = Duration.seconds(300)

    let serviceProvider: ServiceProvider
    /// The address that queries must name as their destination.
    let destination: String
    /// True when a query must be signed when no access token comes with it.
    let validateRequests: Bool

    /// - Parameters:
    ///   - type: The content type, without parameters; what is not JSON is XML.
    ///   - hasBearer: True when an access token came with it.
    /// - Throws: `SettingsFault` that says what is wrong.
    func read(_ octets: [UInt8], type: String, hasBearer: Bool, at now: Timestamp) throws(SettingsFault) -> DecisionMessage {
        if type == XacmlNames.mediaType { return DecisionMessage(form: .json, request: try XacmlRequest(json: octets)) }
        do {
            let root = try XmlElement(parsing: octets)
            if root.name != "Envelope" || root.namespace != XmlNames.soap { return DecisionMessage(form: .xml, request: try XacmlRequest(xml: root)) }
            return try soap(octets, hasBearer, now)
        } catch let refusal as XmlRejection {
            throw SettingsFault(key: "", problem: refusal.reason)
        } catch let refusal as RequestRejection {
            throw SettingsFault(key: "", problem: refusal.code)
        } catch let fault as SettingsFault {
            throw fault
        } catch {
            throw SettingsFault(key: "", problem: "cannot be read")
        }
    }

    // Only what was digested is read when the query is signed.
    private func soap(_ envelope: [UInt8], _ hasBearer: Bool, _ now: Timestamp) throws -> DecisionMessage {
        var octets = try XmlRejection.octets { csandbox_soap_content(envelope, envelope.count, $0) }
        let isSigned = try !XmlElement(parsing: octets).children("Signature", in: XmlNames.signature).isEmpty
        if isSigned {
            octets = try XmlSignature.verified(octets, with: serviceProvider.signingCertificate)
        } else if validateRequests, !hasBearer {
            throw RequestRejection("sig.missing", "The query is not signed.")
        }
        let root = try XmlElement(parsing: octets)
        guard root.name == "XACMLAuthzDecisionQuery", root.namespace == XmlNames.decisionProtocol, root.attributes["Version"] == "2.0",
            let identifier = root.attributes["ID"], !identifier.isEmpty
        else { throw RequestRejection("xml.root", "The message is not a decision query.") }
        guard let issued = root.attributes["IssueInstant"].flatMap(Instant.parse), issued > now - Self.tolerance, issued < now + Self.tolerance else {
            throw RequestRejection("req.stale", "The query is not of this time.")
        }
        guard root.attributes["Destination"] == destination else { throw RequestRejection("req.destination", "The query is for another address.") }
        let issuer = root.only("Issuer", in: XmlNames.assertion)?.text ?? ""
        guard serviceProvider.isIssuer(issuer) else { throw RequestRejection("issuer", "The issuer is not the service provider.") }
        guard let request = root.only("Request", in: XmlNames.decisionContext) else {
            throw RequestRejection("xml.form", "The query has no request.")
        }
        return DecisionMessage(
            form: .soap, request: try XacmlRequest(xml: request), query: .init(identifier: identifier, issuer: issuer), isSigned: isSigned)
    }
}

/// The policy of one MVPD: a person may watch the channels of the subscription, within the parental limit.
struct DecisionPoint: Sendable {
    let subscribers: Subscribers

    /// - Parameter reauthorizeAfter: Seconds that a permit lives; nil leaves the obligation out.
    func decide(_ request: XacmlRequest, reauthorizeAfter: Int?) -> XacmlResponse {
        guard let subject = request.subject else {
            return answer(request) { _ in refusal(XacmlNames.missingAttribute, "The request names no subject") }
        }
        guard let person = subscribers.person(subject: subject) else {
            return answer(request) { _ in refusal(XacmlNames.processingError, "The subject is not known here") }
        }
        return answer(request) { decide($0, for: person, reauthorizeAfter: reauthorizeAfter) }
    }

    private func answer(_ request: XacmlRequest, _ decide: (XacmlRequest.Resource) -> XacmlResponse.Result) -> XacmlResponse {
        if request.resources.isEmpty {
            return XacmlResponse(results: [refusal(XacmlNames.missingAttribute, "The request names no resource")])
        }
        return XacmlResponse(
            results: request.resources.map { resource in
                var result = decide(resource)
                if resource.isIncludedInResult { result.category = [Self.category(resource.identifier)] }
                return result
            })
    }

    private func decide(_ resource: XacmlRequest.Resource, for person: Person, reauthorizeAfter: Int?) -> XacmlResponse.Result {
        let channel = resource.channel ?? resource.identifier
        guard subscribers.channels.contains(channel) else {
            return XacmlResponse.Result(decision: .deny, status: .init(XacmlNames.ok, message: "This provider does not carry the channel"))
        }
        guard subscribers.channels(of: person).contains(channel) else {
            let message = XacmlResponse.Attribute(XacmlNames.message, .text("Add \(channel) to your package to watch it"))
            return deny(XacmlResponse.Obligation(identifier: XacmlNames.upgrade, assignments: [message]))
        }
        guard resource.ratings.allSatisfy({ Self.isAllowed($0, for: person) }) else {
            return deny(XacmlResponse.Obligation(identifier: XacmlNames.restrict, assignments: nil))
        }
        let lifetime = reauthorizeAfter.map { seconds in
            let assignment = XacmlResponse.Attribute(XacmlNames.reauthorize, .number(seconds))
            return [XacmlResponse.Obligation(identifier: XacmlNames.reauthorize, assignments: [assignment])]
        }
        return XacmlResponse.Result(decision: .permit, status: .init(XacmlNames.ok), obligations: lifetime)
    }

    private static func isAllowed(_ rating: String, for person: Person) -> Bool {
        if Rating.film.rank(rating) != nil { return Rating.film.allows(rating, limit: person.maximumFilmRating) }
        return Rating.television.allows(rating, limit: person.maximumTelevisionRating)
    }

    private func deny(_ obligation: XacmlResponse.Obligation) -> XacmlResponse.Result {
        XacmlResponse.Result(decision: .deny, status: .init(XacmlNames.ok), obligations: [obligation])
    }

    private func refusal(_ code: String, _ message: String) -> XacmlResponse.Result {
        XacmlResponse.Result(decision: .indeterminate, status: .init(code, message: message))
    }

    private static func category(_ resource: String) -> XacmlResponse.Category {
        XacmlResponse.Category(identifier: XacmlNames.resourceCategory, attributes: [.init(XacmlNames.resourceID, .text(resource))])
    }
}
