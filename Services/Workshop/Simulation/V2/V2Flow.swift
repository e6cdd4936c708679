/// The flows of rest-v2 §5.
enum V2Flow: String, CaseIterable, Sendable {
    case a, b, c, d, e, f, g, h, i, j, k, l

    var title: String {
        switch self {
        case .a: "Sign in with a browser on the device"
        case .b: "Second screen, provider chosen on the TV"
        case .c: "Second screen, provider chosen there"
        case .d: "Look for profiles"
        case .e: "Which channels are mine"
        case .f: "Watch a channel"
        case .g: "Sign out"
        case .h: "Sign in by the Apple TV"
        case .i: "Signed in by the device's identity"
        case .j: "Signed in by the programmer's identity"
        case .k: "The provider is in trouble"
        case .l: "Free preview"
        }
    }

    var name: String { rawValue.uppercased() }

    /// - Parameter letter: In either case.
    init?(_ letter: String) { self.init(rawValue: letter.lowercased()) }
}
