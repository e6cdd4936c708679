/// A registration code that was given out.
struct CodeEntry: Sendable {
    let code: String
    let device: String
}

/// A device that was told that it is signed in.
struct SessionEntry: Sendable {
    let device: String
    let mvpd: String
    /// A permission for the resource was acknowledged in this session.
    var isPermitted = false
}

/// A value for the Apple Account whose opt-in was confirmed.
struct OptInEntry: Sendable {
    let family: String
    let value: String
    /// The device that has the session in which it was made.
    let device: String
}

/// A version of the catalogue that was pushed.
struct PushEntry: Sendable {
    let version: Int
    let description: String
}
