public import Contracts

/// Entries that may stay in an older catalogue, and are not added any more.
extension Mvpd {
    /// True when its OAuth provider sends browsers back to the address that records of before share.
    public var sharesCallback: Bool {
        guard case .oauth(let endpoint) = signIn else { return false }
        return endpoint.callback != .own
    }
}

extension Requestor {
    /// True when sign-ins are to be confirmed, and those at its upstream cannot be: they end at the app's own page (bridge §7.4).
    public var cannotConfirm: Bool { confirmsSignIn && bridge.map(\.returnOrigin.isEmpty) ?? false }
}
