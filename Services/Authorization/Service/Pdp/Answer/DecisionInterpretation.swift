internal import Clocks
internal import Contracts
internal import Faults
internal import SamlProfile

/// Reads decisions out of an answer (mvpd §4.2). An answer that is not clearly a permit denies.
struct DecisionInterpretation: Sendable {
    typealias Obligation = DecisionResult.Obligation

    private let names: XacmlVocabulary
    private let reasons: DenialReasons

    init(_ point: DecisionPoint) {
        names = point.vocabulary
        reasons = DenialReasons(point.record.denialReasons)
    }

    /// - Throws: `network_received_error` when the answer cannot be used.
    func decide(_ answer: DecisionAnswer, resourceID: String) throws(Fault) -> MvpdDecision {
        try decideEach(answer, resourceIDs: [resourceID])[resourceID] ?? .deny(Denial(code: .authorizationDeniedByMvpd))
    }

    /// Reads the decisions about several resources; one that the answer does not mention is left out.
    /// - Parameter resourceIDs: Each once.
    /// - Throws: `network_received_error` when the answer cannot be used: a result names no resource, or two name one (mvpd §4.2).
    func decideEach(_ answer: DecisionAnswer, resourceIDs: [String]) throws(Fault) -> [OctetText: MvpdDecision] {
        if resourceIDs.count == 1, let only = answer.results.first, answer.results.count == 1, only.resourceIDs.isEmpty {
            return [OctetText(resourceIDs[0]): decision(only, answer)]
        }
        if resourceIDs.count == 1, answer.results.isEmpty { throw Self.unusable("the answer has no result") }
        var decisions: [OctetText: MvpdDecision] = [:]
        for result in answer.results {
            guard !result.resourceIDs.isEmpty else { throw Self.unusable("a result names no resource") }
            for id in result.resourceIDs where resourceIDs.contains(id) {
                guard decisions.updateValue(decision(result, answer), forKey: id) == nil else {
                    throw Self.unusable("two results for one resource")
                }
            }
        }
        return decisions
    }

    private func decision(_ result: DecisionResult, _ answer: DecisionAnswer) -> MvpdDecision {
        result.decision == "Permit" ? permit(result, answer) : .deny(denial(result))
    }

    private func permit(_ result: DecisionResult, _ answer: DecisionAnswer) -> MvpdDecision {
        var permit = MvpdDecision.Permit(validUntil: answer.validUntil)
        for obligation in Self.obligations(result, effect: "Permit") {
            switch obligation.identifier {
            case names.log: permit.mustBeLogged = true
            case names.reauthorize:
                guard let seconds = Self.seconds(obligation) else { return .deny(Denial(code: .authorizationDeniedByMvpd)) }
                permit.reauthorizeAfter = min(seconds, permit.reauthorizeAfter ?? seconds)
            case names.restrictParentalControl, names.upgrade: return .deny(denial(result))
            default:
                // XACML: an obligation that cannot be discharged turns the permit into a denial.
                guard isUnderstood(obligation) else { return .deny(Denial(code: .authorizationDeniedByMvpd)) }
            }
            permit.ratings += ratings(obligation)
        }
        return .permit(permit)
    }

    /// Its id is not in the table, but each of its assignments is (mvpd §4.2).
    private func isUnderstood(_ obligation: Obligation) -> Bool {
        !obligation.assignments.isEmpty && obligation.assignments.allSatisfy { names.understands(assignment: $0.identifier) }
    }

    private func ratings(_ obligation: Obligation) -> [MvpdDecision.Rating] {
        obligation.assignments.compactMap { assignment in
            guard let scheme = names.ratingScheme(assignment.identifier), let text = assignment.texts.first, let value = MvpdText.clean(text)
            else { return nil }
            return MvpdDecision.Rating(scheme: scheme, value: value)
        }
    }

    /// A permit may live for a second to a year.
    private static func seconds(_ obligation: Obligation) -> Duration? {
        let texts = obligation.assignments.flatMap(\.texts)
        guard texts.count == 1, let seconds = Int64(texts[0]), (1...31_622_400).contains(seconds) else { return nil }
        return .seconds(seconds)
    }

    private func denial(_ result: DecisionResult) -> Denial {
        let obligations = Self.obligations(result, effect: result.decision)
        let isParental = obligations.contains { $0.identifier == names.restrictParentalControl }
        let code = isParental ? .authorizationDeniedByParentalControls : reason(obligations) ?? .authorizationDeniedByMvpd
        return Denial(code: code, details: details(obligations) ?? (result.decision == "Deny" ? result.statusMessage : nil).flatMap(MvpdText.clean))
    }

    private func reason(_ obligations: [Obligation]) -> Fault.Code? {
        let given = obligations.flatMap(\.assignments).filter { $0.identifier == names.reasonCode }
        return given.flatMap(\.texts).lazy.compactMap(reasons.code).first
    }

    /// The text that a person is to read: a message assignment, else what an upgrade obligation says.
    private func details(_ obligations: [Obligation]) -> String? {
        let messages = obligations.flatMap(\.assignments).filter { $0.identifier == names.message }
        let upgrades = obligations.filter { $0.identifier == names.upgrade }.flatMap(\.assignments)
        let texts = (messages + upgrades.filter { $0.identifier != names.reasonCode }).flatMap(\.texts)
        return texts.lazy.compactMap(MvpdText.clean).first
    }

    /// Obligations that belong to the effect; one that names the other is ignored.
    private static func obligations(_ result: DecisionResult, effect: String) -> [Obligation] {
        result.obligations.filter { $0.fulfillOn == nil || $0.fulfillOn == effect }
    }

    private static func unusable(_ reason: String) -> Fault {
        Fault(.networkReceivedError, "The MVPD's answer cannot be used.", cause: DecisionPointError(reason))
    }
}

/// The answer of a decision point, once it could be believed.
struct DecisionAnswer: Hashable, Sendable {
    var results: [DecisionResult]
    /// When the answer itself ends, where its form can say so.
    var validUntil: Timestamp?
}

/// The reason of an MVPD's denial, by its reason-code assignment (mvpd §4.2). The endpoint's own table goes first, then the public code's own name or
/// a short form of it. Letter case, blanks, `-` and `_` are alike.
struct DenialReasons: Sendable {
    private let own: [DenialReason]

    init(_ own: [DenialReason] = []) { self.own = own }

    /// - Returns: `nil` for a reason that has no code of its own.
    func code(_ reason: String) -> Fault.Code? {
        let plain = Self.plain(reason)
        if let entry = own.first(where: { Self.plain($0.reason) == plain }) { return Self.codes[Self.plain(entry.code)] }
        return Self.codes[plain]
    }

    private static func plain(_ text: String) -> String { String(text.lowercased().filter { !" -_".contains($0) }) }

    private static let codes: [String: Fault.Code] = [
        "identitynotrecognizedbymvpd": .identityNotRecognizedByMvpd, "identitynotrecognized": .identityNotRecognizedByMvpd,
        "authorizationdeniedbyhbapolicies": .authorizationDeniedByHbaPolicies, "hbapolicies": .authorizationDeniedByHbaPolicies,
        "hbapolicy": .authorizationDeniedByHbaPolicies,
        "authorizationdeniedbysessioninvalidated": .authorizationDeniedBySessionInvalidated,
        "sessioninvalidated": .authorizationDeniedBySessionInvalidated,
        "authorizationdeniedbyparentalcontrols": .authorizationDeniedByParentalControls,
        "parentalcontrols": .authorizationDeniedByParentalControls, "authorizationdeniedbymvpd": .authorizationDeniedByMvpd,
    ]
}

/// The MVPD's decision.
enum MvpdDecision: Hashable, Sendable {
    case permit(Permit)
    case deny(Denial)

    struct Permit: Hashable, Sendable {
        /// The answer itself ends at this time.
        var validUntil: Timestamp?
        /// Seconds of a re-authz obligation.
        var reauthorizeAfter: Duration?
        /// The MVPD wants the transaction recorded.
        var mustBeLogged = false
        /// The person's parental limits as the MVPD knows them now.
        var ratings: [Rating] = []
    }

    /// A parental limit.
    struct Rating: Hashable, Sendable {
        enum Scheme: Hashable, Sendable {
            case mpaa, vChip
        }

        var scheme: Scheme
        var value: String

        /// The attribute of a session that holds it.
        var attribute: String {
            switch scheme {
            case .mpaa: "maxRating.MPAA"
            case .vChip: "maxRating.VCHIP"
            }
        }
    }
}
