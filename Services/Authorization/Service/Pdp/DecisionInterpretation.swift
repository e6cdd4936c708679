internal import Faults

/// Reads the decision about one resource out of an answer (mvpd §4.2). Whatever is not clearly a permit denies.
enum DecisionInterpretation {
    /// - Throws: `network_received_error` when the answer cannot be used.
    static func decide(_ response: XacmlJsonResponse, resourceID: String) throws(Fault) -> MvpdDecision {
        guard let result = try result(response, resourceID: resourceID) else { return .deny(Denial(code: .authorizationDeniedByMvpd)) }
        return decision(result)
    }

    /// Reads the decisions about several resources; one that the answer does not mention is left out.
    /// - Parameter resourceIDs: Each once.
    /// - Throws: `network_received_error` when the answer cannot be used: a result names no resource, or two name one (mvpd §4.2).
    static func decideEach(_ response: XacmlJsonResponse, resourceIDs: [String]) throws(Fault) -> [String: MvpdDecision] {
        if resourceIDs.count == 1, let only = response.results.first, response.results.count == 1, only.resourceIDs.isEmpty {
            return [resourceIDs[0]: decision(only)]
        }
        var decisions: [String: MvpdDecision] = [:]
        for result in response.results {
            guard !result.resourceIDs.isEmpty else { throw unusable("a result names no resource") }
            for id in result.resourceIDs where resourceIDs.contains(id) {
                guard decisions.updateValue(decision(result), forKey: id) == nil else { throw unusable("two results for one resource") }
            }
        }
        return decisions
    }

    private static func decision(_ result: XacmlJsonResponse.Result) -> MvpdDecision {
        result.decision == "Permit" ? permit(result) : .deny(denial(result))
    }

    /// The result for the resource: by its id, or the only one when it names none.
    /// - Returns: `nil` when the answer is about other resources only.
    private static func result(_ response: XacmlJsonResponse, resourceID: String) throws(Fault) -> XacmlJsonResponse.Result? {
        let unnamed = response.results.filter { $0.resourceIDs.isEmpty }
        if response.results.count == 1, let only = unnamed.first { return only }
        guard unnamed.isEmpty, !response.results.isEmpty else { throw unusable("a result names no resource") }
        let matching = response.results.filter { $0.resourceIDs.contains(resourceID) }
        guard matching.count <= 1 else { throw unusable("two results for one resource") }
        return matching.first
    }

    private static func permit(_ result: XacmlJsonResponse.Result) -> MvpdDecision {
        var permit = MvpdDecision.Permit()
        for obligation in obligations(result, effect: "Permit") {
            switch obligation.identifier {
            case XacmlNames.log: permit.mustBeLogged = true
            case XacmlNames.reauthorize:
                guard let seconds = seconds(obligation) else { return .deny(Denial(code: .authorizationDeniedByMvpd)) }
                permit.reauthorizeAfter = seconds
            case XacmlNames.restrictParentalControl, XacmlNames.upgrade: return .deny(denial(result))
            default:
                // XACML: an obligation that cannot be discharged turns the permit into a denial.
                guard isUnderstood(obligation) else { return .deny(Denial(code: .authorizationDeniedByMvpd)) }
            }
            permit.ratings += ratings(obligation)
        }
        return .permit(permit)
    }

    /// Its id is not in the table, but each of its assignments is (mvpd §4.2).
    private static func isUnderstood(_ obligation: XacmlJsonResponse.Obligation) -> Bool {
        let assignments = obligation.assignments ?? []
        return !assignments.isEmpty && assignments.allSatisfy { XacmlNames.assignments.contains($0.identifier) }
    }

    private static func ratings(_ obligation: XacmlJsonResponse.Obligation) -> [MvpdDecision.Rating] {
        (obligation.assignments ?? []).compactMap { assignment in
            guard let scheme = XacmlNames.ratings[assignment.identifier], let text = assignment.value?.texts.first,
                let value = MvpdText.clean(text)
            else { return nil }
            return MvpdDecision.Rating(scheme: scheme, value: value)
        }
    }

    /// A permit may live for a second to a year.
    private static func seconds(_ obligation: XacmlJsonResponse.Obligation) -> Duration? {
        let texts = (obligation.assignments ?? []).flatMap { $0.value?.texts ?? [] }
        guard texts.count == 1, let seconds = Int64(texts[0]), (1...31_622_400).contains(seconds) else { return nil }
        return .seconds(seconds)
    }

    private static func denial(_ result: XacmlJsonResponse.Result) -> Denial {
        let obligations = obligations(result, effect: result.decision)
        let isParental = obligations.contains { $0.identifier == XacmlNames.restrictParentalControl }
        let code = isParental ? .authorizationDeniedByParentalControls : reason(obligations) ?? .authorizationDeniedByMvpd
        return Denial(code: code, details: details(obligations) ?? (result.decision == "Deny" ? result.status?.message : nil).flatMap(MvpdText.clean))
    }

    private static func reason(_ obligations: [XacmlJsonResponse.Obligation]) -> Fault.Code? {
        let reasons = obligations.flatMap { $0.assignments ?? [] }.filter { $0.identifier == XacmlNames.reasonCode }
        return reasons.flatMap { $0.value?.texts ?? [] }.lazy.compactMap(ReasonCode.code).first
    }

    /// The text that a person is to read: a message assignment, else what an upgrade obligation says.
    private static func details(_ obligations: [XacmlJsonResponse.Obligation]) -> String? {
        let assignments = obligations.flatMap { $0.assignments ?? [] }
        let messages = assignments.filter { $0.identifier == XacmlNames.message }
        let upgrades = obligations.filter { $0.identifier == XacmlNames.upgrade }.flatMap { $0.assignments ?? [] }
        let texts = (messages + upgrades.filter { $0.identifier != XacmlNames.reasonCode }).flatMap { $0.value?.texts ?? [] }
        return texts.lazy.compactMap(MvpdText.clean).first
    }

    /// Obligations that belong to the effect; one that names the other is ignored.
    private static func obligations(_ result: XacmlJsonResponse.Result, effect: String) -> [XacmlJsonResponse.Obligation] {
        (result.obligations ?? []).filter { $0.fulfillOn == nil || $0.fulfillOn == effect }
    }

    private static func unusable(_ reason: String) -> Fault {
        Fault(.networkReceivedError, "The MVPD's answer cannot be used.", cause: DecisionPointProblem(reason))
    }
}
