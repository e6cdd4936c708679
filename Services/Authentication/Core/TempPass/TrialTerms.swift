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

/// In the words of REST v2, where a TempPass is an MVPD like others (rest-v2 §3).
extension TrialTerms {
    /// - Throws: `invalid_temporary_access_configuration` for an MVPD that is no TempPass, or of which no trial could be had.
    init(configured mvpd: Mvpd) throws(Fault) {
        guard let terms = try? TrialTerms(mvpd), terms.lifetime > .zero, terms.userKey?.isEmpty != true else {
            throw Fault(.invalidTemporaryAccessConfiguration, "The TempPass is not configured.")
        }
        self = terms
    }

    /// - Returns: `nil` for a basic TempPass, which needs no identity.
    /// - Throws: `invalid_temporary_access_identity`.
    func user(inIdentity text: String) throws(Fault) -> TrialUser? {
        do {
            return try user(in: text)
        } catch {
            throw Fault(.invalidTemporaryAccessIdentity, "The TempPass needs a user's identity in 'AP-TempPass-Identity'.")
        }
    }
}
