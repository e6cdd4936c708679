internal import Clocks
internal import Contracts
internal import SamlProfile
internal import Synchronization

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
    /// - Throws: `DecisionPointProblem` when the record or this service's settings lack what the form needs.
    func form(
        _ query: DecisionQuery, and others: some Sequence<DecisionQuery>, at point: DecisionPoint
    ) throws(DecisionPointProblem) -> any DecisionForm {
        switch point.record.protocol {
        case .xacmlJson: return JsonForm(question: query.request(point, and: others), names: point.vocabulary)
        case .xacmlXml: return XmlForm(question: query.request(point, and: others))
        case .restMrss: return RestForm(query: query, point: point)
        case .xacmlSoap: return try soap(query, and: others, at: point)
        case .none, .unrecognized: throw DecisionPointProblem("the endpoint's protocol asks nobody")
        }
    }

    private func soap(
        _ query: DecisionQuery, and others: some Sequence<DecisionQuery>, at point: DecisionPoint
    ) throws(DecisionPointProblem) -> SoapForm {
        let isSigned = point.record.queryAuthentication == .standard
        guard !identity.entityID.isEmpty, !isSigned || identity.signingKey != nil else {
            throw DecisionPointProblem("the service has no entity id or no key to sign queries with")
        }
        var generator = SystemRandomNumberGenerator()
        let asked = AuthorizationDecisionQuery(
            id: RequestID(using: &generator), issuedAt: clock.now(), destination: point.record.url, serviceProviderEntityID: identity.entityID,
            onBehalfOf: point.onBehalfOf(query.requestor), scopingMode: point.scoping, request: query.request(point, and: others))
        return SoapForm(query: asked, key: isSigned ? identity.signingKey : nil, expected: try expectation(asked, point), clock: clock)
    }

    private func expectation(_ query: AuthorizationDecisionQuery, _ point: DecisionPoint) throws(DecisionPointProblem) -> ExpectedDecision {
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

    private func certificate(_ der: [UInt8]) throws(DecisionPointProblem) -> PinnedCertificate {
        if let known = certificates.withLock({ $0[der] }) { return known }
        do {
            let parsed = try PinnedCertificate(der: der)
            certificates.withLock { $0[der] = parsed }
            return parsed
        } catch {
            throw DecisionPointProblem(error.description)
        }
    }
}
