internal import SandboxKit

/// What a decision point adds to its answers or leaves out of them, as tests set it (mvpd §4.2, §4.4).
struct AnswerShape: Sendable, Equatable {
    /// Resources that the answer passes over.
    var silentAbout: Set<String> = []
    /// Whether one unknown resource empties the whole answer, as with some MVPDs.
    var isSilentWhenUnknown = false
    /// Whether results are in the reverse order of the requested resources.
    var isReversed = false
    /// Parental limits that come with permits.
    var maximumFilmRating: String?
    var maximumTelevisionRating: String?
    /// Denies everything for this reason.
    var denialReason: String?
    /// The decision of every result.
    var decision: XacmlResponse.Decision?
    var statusMessage: String?
    /// Identifier of an unknown obligation that comes with every result.
    var obligation: XacmlResponse.Obligation?
    /// Whether each result is there twice.
    var isDoubled = false
    /// Whether results leave out which resource they are about.
    var isUnnamed = false

    /// The answer in this shape.
    func applied(to response: XacmlResponse, asked resources: [XacmlRequest.Resource], channels: [String]) -> XacmlResponse {
        let unknown = resources.contains { !channels.contains($0.channel ?? $0.identifier) }
        if isSilentWhenUnknown, unknown { return XacmlResponse(results: []) }
        var results = zip(resources, response.results).filter { !silentAbout.contains($0.0.identifier) }.map { changed($0.1) }
        // A question without a resource gets one result without a resource.
        if resources.isEmpty { results = response.results }
        if isDoubled { results += results }
        return XacmlResponse(results: isReversed ? results.reversed() : results)
    }

    private func changed(_ result: XacmlResponse.Result) -> XacmlResponse.Result {
        var result = result
        if let denialReason {
            let assignment = XacmlResponse.Attribute(XacmlNames.reasonCode, .text(denialReason))
            result.decision = .deny
            result.obligations = [XacmlResponse.Obligation(identifier: XacmlNames.reasons, assignments: [assignment])]
        } else if result.decision == .permit, !ratings.isEmpty {
            result.obligations = (result.obligations ?? []) + [XacmlResponse.Obligation(identifier: XacmlNames.ratings, assignments: ratings)]
        }
        if let decision { result.decision = decision }
        if let statusMessage { result.status = XacmlResponse.Status(result.status.code.value, message: statusMessage) }
        if let obligation { result.obligations = (result.obligations ?? []) + [obligation] }
        if isUnnamed { result.category = nil }
        return result
    }

    private var ratings: [XacmlResponse.Attribute] {
        [(XacmlNames.maxMPAA, maximumFilmRating), (XacmlNames.maxVChip, maximumTelevisionRating)].compactMap { name, value in
            value.map { XacmlResponse.Attribute(name, .text($0)) }
        }
    }
}
