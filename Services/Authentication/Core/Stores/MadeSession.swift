/// A session made from a login elsewhere, as one change.
struct MadeSession: Hashable, Sendable {
    let session: SessionRecord
    let login: SessionID
    /// The newest session that the device was seen to have; `nil`: none.
    let replaced: SessionID?
    /// The MVPD's, when the login was by OAuth.
    let tokens: UpstreamTokenRecord?
}
