internal import Contracts
internal import Faults

/// What a TempPass gives (rest-v1 §6.2).
struct TrialTerms: Hashable, Sendable {
    /// From the first play on.
    let lifetime: Duration
    /// How many different resources; `nil`: any number.
    let maxResources: Int?
    /// The member of `generic_data` that names the user; `nil`: only the device counts.
    let userKey: String?

    /// - Throws: `invalid_request` for an MVPD that is no TempPass.
    init(_ mvpd: Mvpd) throws(Fault) {
        guard case .tempPass(let pass) = mvpd.signIn else { throw Fault(.invalidRequest, "The MVPD is no TempPass.") }
        let isPromotional = pass.kind != .basic
        lifetime = .seconds(Int64(pass.ttlSeconds))
        maxResources = isPromotional ? Int(pass.maxResources) : nil
        userKey = isPromotional ? pass.userInformationKey : nil
    }

    /// - Returns: `nil` for a basic TempPass, which reads no `generic_data`.
    /// - Throws: `invalid_request`.
    func user(in genericData: String) throws(Fault) -> TrialUser? {
        guard let userKey else { return nil }
        return try GenericData.user(in: genericData, key: userKey)
    }
}
