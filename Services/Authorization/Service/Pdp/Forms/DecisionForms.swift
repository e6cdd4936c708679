internal import Clocks
internal import Contracts
internal import FoundationEssentials
internal import OutboundHttp
internal import SamlProfile
internal import Synchronization
internal import TextEncodings

/// Finds the form in which a decision point is asked.
final class DecisionForms: Sendable {
    private let identityInUse: Mutex<DecisionIdentity>
    private let clock: any WallClock
    /// Certificates that were parsed, by their DER; there are as many as the catalogue has.
    private let certificates = Mutex<[[UInt8]: PinnedCertificate]>([:])

    init(identity: DecisionIdentity, clock: any WallClock) {
        identityInUse = Mutex(identity)
        self.clock = clock
    }

    /// Asks as somebody else, or with another key, from the next question on.
    func use(_ identity: DecisionIdentity) { identityInUse.withLock { $0 = identity } }

    private var identity: DecisionIdentity { identityInUse.withLock { $0 } }

    /// - Parameter others: Further questions of the same message; none for a point that takes only one.
    /// - Throws: `DecisionPointError` when the record or this service's settings lack what the form needs.
    func form(
        _ query: DecisionQuery, and others: some Sequence<DecisionQuery>, at point: DecisionPoint
    ) throws(DecisionPointError) -> any DecisionForm {
        switch point.record.protocol {
        case .xacmlJson: return JsonForm(question: query.request(point, and: others), names: point.vocabulary)
        case .xacmlXml: return XmlForm(question: query.request(point, and: others))
        case .restMrss: return RestForm(query: query, point: point)
        case .xacmlSoap: return try soap(query, and: others, at: point)
        case .none, .unrecognized: throw DecisionPointError("the endpoint's protocol asks nobody")
        }
    }

    private func soap(
        _ query: DecisionQuery, and others: some Sequence<DecisionQuery>, at point: DecisionPoint
    ) throws(DecisionPointError) -> SoapForm {
        let isSigned = point.record.queryAuthentication == .standard
        guard !identity.entityID.isEmpty, !isSigned || identity.signingKey != nil else {
            throw DecisionPointError("the service has no entity id or no key to sign queries with")
        }
        var generator = SystemRandomNumberGenerator()
        let asked = AuthorizationDecisionQuery(
            id: RequestID(using: &generator), issuedAt: clock.now(), destination: point.record.url, serviceProviderEntityID: identity.entityID,
            onBehalfOf: point.onBehalfOf(query.requestor), scopingMode: point.scoping, request: query.request(point, and: others))
        return SoapForm(query: asked, key: isSigned ? identity.signingKey : nil, expected: try expectation(asked, point), clock: clock)
    }

    private func expectation(_ query: AuthorizationDecisionQuery, _ point: DecisionPoint) throws(DecisionPointError) -> ExpectedDecision {
        let record = point.record
        var pinned: [PinnedCertificate] = []
        for der in point.signingCertificates { pinned.append(try certificate(der)) }
        var expected = ExpectedDecision(
            queryID: query.id.rawValue, issuer: point.issuer, serviceProviderEntityID: identity.entityID, issuerSent: query.issuer,
            pinnedCertificates: pinned)
        expected.signature =
            switch record.answerSignature {
            case .response: .response
            case .assertion: .assertion
            case .both, .unrecognized: .both
            case .none: .none
            }
        if !record.signatureAlgorithms.isEmpty { expected.signatureAlgorithms = Set(record.signatureAlgorithms.compactMap(SignatureAlgorithm.init)) }
        expected.requiresInResponseTo = record.requireInResponseTo
        if record.clockSkewSeconds != 0 { expected.clockSkew = .seconds(Int64(record.clockSkewSeconds)) }
        if record.maxResponseAgeSeconds != 0 { expected.maximumAge = .seconds(Int64(record.maxResponseAgeSeconds)) }
        return expected
    }

    private func certificate(_ der: [UInt8]) throws(DecisionPointError) -> PinnedCertificate {
        if let known = certificates.withLock({ $0[der] }) { return known }
        do {
            let parsed = try PinnedCertificate(der: der)
            certificates.withLock { $0[der] = parsed }
            return parsed
        } catch {
            throw DecisionPointError(error.description)
        }
    }
}

/// A GET with the resource as Media RSS (mvpd §4.1); the answer is a bare response, XML or JSON.
struct RestForm: DecisionForm {
    private static let xmlTypes: Set = ["application/xacml+xml", "application/xml", "text/xml"]
    private static let jsonTypes: Set = [JsonForm.mediaType, "application/json"]

    let query: DecisionQuery
    let point: DecisionPoint

    func request(to url: String) throws(DecisionPointError) -> OutboundRequest {
        var parameters = [("uuID", query.subject), ("mrss", Data(query.mediaRss(point).utf8).base64EncodedString())]
        if !point.record.omitIP, !query.clientAddress.isEmpty { parameters.append(("IPAddress", query.clientAddress)) }
        let joint = url.contains("?") ? "&" : "?"
        let accepted = (Self.xmlTypes.sorted() + Self.jsonTypes.sorted()).joined(separator: ", ")
        return OutboundRequest(.get, url + joint + FormEncoding.encode(parameters), headers: [("accept", accepted)])
    }

    func answer(_ answer: OutboundAnswer) throws(DecisionPointError) -> DecisionAnswer {
        let type = answer.header("content-type")?.split(separator: ";").first?.lowercased().filter { $0 != " " } ?? ""
        if Self.xmlTypes.contains(type) { return try Self.bare(xml: answer.body) }
        if Self.jsonTypes.contains(type) { return try Self.bare(json: answer.body, point.vocabulary) }
        throw DecisionPointError("the answer's Content-Type is neither XML nor JSON: '\(type.prefix(64))'")
    }
}

/// The JSON profile of XACML 3.0 (mvpd §4.1).
struct JsonForm: DecisionForm {
    static let mediaType = "application/xacml+json"

    let question: DecisionRequest
    let names: XacmlVocabulary

    func request(to url: String) throws(DecisionPointError) -> OutboundRequest {
        do {
            let body = try XacmlJsonRequest(question, including: names.resourceID).serialized()
            return OutboundRequest(.post, url, headers: [("content-type", Self.mediaType), ("accept", Self.mediaType)], body: body)
        } catch {
            throw DecisionPointError("the question cannot be encoded")
        }
    }

    func answer(_ answer: OutboundAnswer) throws(DecisionPointError) -> DecisionAnswer { try Self.bare(json: answer.body, names) }
}

/// XACML 2.0 inside SAML inside SOAP 1.1 (mvpd §4.1, §4.2).
struct SoapForm: DecisionForm {
    /// SAML bindings §3.2.2.1.
    private static let action = "\"http://www.oasis-open.org/committees/security\""

    let query: AuthorizationDecisionQuery
    /// nil: the query is not signed.
    let key: SamlSigningKey?
    let expected: ExpectedDecision
    let clock: any WallClock

    func request(to url: String) throws(DecisionPointError) -> OutboundRequest {
        do {
            let body = Array(try query.envelope(signedWith: key).utf8)
            return OutboundRequest(
                .post, url, headers: [("content-type", XmlForm.mediaType), ("accept", "text/xml"), ("soapaction", Self.action)], body: body)
        } catch {
            throw DecisionPointError(error.description)
        }
    }

    func answer(_ answer: OutboundAnswer) throws(DecisionPointError) -> DecisionAnswer {
        do {
            let verified = try DecisionVerifier().verify(answer.body, expecting: expected, at: clock.now())
            return DecisionAnswer(results: verified.results, validUntil: verified.notOnOrAfter)
        } catch {
            throw DecisionPointError("the answer is refused: \(error)")
        }
    }
}

/// A bare request of XACML 2.0 (mvpd §4.1).
struct XmlForm: DecisionForm {
    static let mediaType = "text/xml; charset=utf-8"

    let question: DecisionRequest

    func request(to url: String) throws(DecisionPointError) -> OutboundRequest {
        OutboundRequest(
            .post, url, headers: [("content-type", Self.mediaType), ("accept", "application/xacml+xml, application/xml, text/xml")],
            body: Array(question.document.utf8))
    }

    func answer(_ answer: OutboundAnswer) throws(DecisionPointError) -> DecisionAnswer { try Self.bare(xml: answer.body) }
}

/// A question and its answer have this form in one protocol (mvpd §4.1, §4.2).
protocol DecisionForm: Sendable {
    /// - Parameter url: The decision point's address.
    /// - Throws: `DecisionPointError` when the question cannot be put in this form; nobody was asked then.
    func request(to url: String) throws(DecisionPointError) -> OutboundRequest

    /// - Throws: `DecisionPointError` when the answer cannot be used or is not to be believed.
    func answer(_ answer: OutboundAnswer) throws(DecisionPointError) -> DecisionAnswer
}

extension DecisionForm {
    static func bare(xml octets: [UInt8]) throws(DecisionPointError) -> DecisionAnswer {
        do {
            return DecisionAnswer(results: try DecisionContext.results(ofBare: octets))
        } catch {
            throw DecisionPointError("the answer is no XACML response: \(error)")
        }
    }

    static func bare(json octets: [UInt8], _ names: XacmlVocabulary) throws(DecisionPointError) -> DecisionAnswer {
        DecisionAnswer(results: try XacmlJsonResponse(json: octets).decisions(names))
    }
}
