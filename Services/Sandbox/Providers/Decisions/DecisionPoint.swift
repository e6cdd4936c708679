internal import SandboxKit

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
