/// The behaviour of one user of the load.
enum Story: String, CaseIterable, Sendable {
    /// A device asks what it was told before: session, code, permission, media token.
    case readSession, readCode, readPermission, readMedia
    /// A device that was signed out asks again; a value that was withdrawn is tried again.
    case readLogout, readOptOut
    case readConfig
    case register, requestToken
    case requestCode, deleteCode
    case preview, signIn, logout
    case authorize
    case optIn, optOut
    case push
    case readVersions

    /// The share in a hundred stories.
    var share: Int {
        switch self {
        case .readSession: 13
        case .readCode: 10
        case .readPermission: 4
        case .readMedia: 3
        case .readLogout: 6
        case .readOptOut: 2
        case .readConfig: 10
        case .register: 4
        case .requestToken: 4
        case .requestCode: 12
        case .deleteCode: 4
        case .preview: 7
        case .signIn: 4
        case .logout: 5
        case .authorize: 4
        case .optIn: 3
        case .optOut: 1
        case .push: 1
        case .readVersions: 3
        }
    }

    /// The stories of a hundred, to draw from.
    static let deck = allCases.flatMap { Array(repeating: $0, count: $0.share) }
}
