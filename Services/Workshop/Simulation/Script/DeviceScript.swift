internal import CommandKit
internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation

/// What simulated devices do, step by step, and what is expected of it.
struct DeviceScript: Sendable {
    /// One of the script's devices.
    struct Device: Sendable {
        var name = "tv"
        var platform = DeviceDescription.Platform.tvOS
        var appleAccount: String?
        /// The person's answer to the sheet of Automatic Sign-In.
        var approves = true
        /// The person at the provider, when the platform signs in.
        var person = "ada"
        var scenario: Scenario?
    }

    /// At least one; a step without a device is the first one's.
    var devices: [Device]
    var steps: [ScriptStep]
}

/// One step of a script.
struct ScriptStep: Sendable {
    /// Of which device; `nil`: of the first.
    var device: String?
    var action: ScriptAction
    var expectation = ExpectedEnd()
    /// Where it is in the file, for messages; empty for a step that comes from the command line.
    var place = ""
}

/// What a device or its person does in a step.
enum ScriptAction: Sendable {
    /// Asks the servers for the requestor's configuration.
    case configure
    /// The app is started anew, and configures.
    case launch
    case status
    case providers
    case signIn(SignIn)
    case preflight([String])
    case play(String)
    case metadata(String)
    case logout
    case autoSignIn(AutoSignIn)
    case clock(Clock)
    case network(SimulatedNetwork.Fault?)
    case settings(Settings)

    struct SignIn: Sendable {
        var provider: String?
        var conduct = SimulatedViewer.Conduct.waits
        var isForced = false
        /// What the platform's picker lists; `nil`: all.
        var filter: [String]?
    }

    enum AutoSignIn: String, Sendable, CaseIterable {
        case status
        case enable
        case redeem
        case disable
    }

    enum Clock: Sendable {
        /// Seconds that the device's clock is ahead of the real time.
        case ahead(Int)
        /// Seconds that pass at once.
        case pass(Int)
    }

    /// What the person changes in the device's settings.
    struct Settings: Sendable {
        var permission: AccountAccess?
        /// The platform's name of the provider at which the device is signed in now.
        var provider: String?
        /// Seconds.
        var expiresIn = 86_400
        var signsOut = false
    }

    /// As scripts call it.
    var name: String {
        switch self {
        case .configure: "configure"
        case .launch: "launch"
        case .status: "status"
        case .providers: "providers"
        case .signIn: "signin"
        case .preflight: "preflight"
        case .play: "play"
        case .metadata: "metadata"
        case .logout: "logout"
        case .autoSignIn: "auto-signin"
        case .clock: "clock"
        case .network: "network"
        case .settings: "settings"
        }
    }

    /// Whether the app has to know the requestor first.
    var needsConfiguration: Bool {
        switch self {
        case .configure, .launch, .clock, .network, .settings: false
        default: true
        }
    }
}

/// What has to be true after a step; what is `nil` is not looked at.
struct ExpectedEnd: Sendable {
    var outcome: CommandExit?
    /// An advanced code that was told meanwhile (client-sdk §2.6).
    var code: String?
    var isSignedIn: Bool?
    var provider: String?
    var source: String?
    /// The permitted resources of a preflight, in any order.
    var permitted: [String]?
    /// Of a piece of metadata.
    var value: String?
    /// A part of the text that explains a failure.
    var text: String?

    /// Whether a step that did not work may be what is wanted.
    var isOfFailure: Bool { outcome != nil || code != nil || text != nil || isSignedIn == false }
}
