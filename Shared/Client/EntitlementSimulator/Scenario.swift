internal import Octets
public import Foundation

/// The state of a simulated device and the actions of its user, as JSON (client-sdk §4.2). Each key may be left out.
public struct Scenario: Codable, Sendable, Hashable {
    /// States whether the app may ask for the device's provider.
    public struct Permission: Codable, Sendable, Hashable {
        /// `notDetermined` (default), `restricted`, `denied` or `granted`.
        public var initial: String?
        /// The person's answer to the prompt; without it the prompt stays open.
        public var onPrompt: String?

        public init(initial: String? = nil, onPrompt: String? = nil) { (self.initial, self.onPrompt) = (initial, onPrompt) }
    }

    /// The login of the device.
    public struct System: Codable, Sendable, Hashable {
        /// The platform's name of the provider.
        public var provider: String
        /// Seconds; negative: the login has expired.
        public var expiresIn: Double

        /// - Parameters:
        ///   - provider: The platform's name of the provider.
        ///   - expiresIn: Seconds; negative: the login has expired.
        public init(provider: String, expiresIn: Double = 86_400) { (self.provider, self.expiresIn) = (provider, expiresIn) }
    }

    /// The person's action in one picker; exactly one of the keys, `expired` beside `pick`.
    public struct Choice: Codable, Sendable, Hashable {
        public var pick: String?
        /// The login made by `pick` has already expired.
        public var expired: Bool?
        public var other: Bool?
        public var cancel: Bool?
        /// The platform ends without an id and without an error.
        public var nothing: Bool?
        /// `VSError.Code`.
        public var vsError: Int?

        /// - Parameters:
        ///   - pick: The platform's name of the provider that the person picks.
        ///   - expired: With `pick`: whether the login has already expired.
        ///   - other: The person picks "Other TV Provider".
        ///   - cancel: The person cancels.
        ///   - nothing: The platform ends without a provider and without an error.
        ///   - vsError: The platform ends with this `VSError.Code`.
        public init(
            pick: String? = nil, expired: Bool? = nil, other: Bool? = nil, cancel: Bool? = nil, nothing: Bool? = nil, vsError: Int? = nil
        ) {
            (self.pick, self.expired, self.other, self.cancel, self.nothing, self.vsError) = (pick, expired, other, cancel, nothing, vsError)
        }
    }

    /// Something that fails.
    public struct Fault: Codable, Sendable, Hashable {
        /// `access`, `metadata`, `answer` (the request with a verification token), or one of them with `#n` for the nth such request.
        public var at: String
        /// `VSError.Code`.
        public var vsError: Int?
        /// An error of another kind, in the framework's words.
        public var error: String?
        /// The person's action meanwhile: the new permission.
        public var permission: String?
        /// The answer names this provider.
        public var provider: String?
        /// How often; default: always.
        public var times: Int?

        /// - Parameters:
        ///   - at: `access`, `metadata` or `answer`, also with `#n` for the nth such request.
        ///   - vsError: `VSError.Code`, 0 to 7.
        ///   - error: Message of an error that is no `VSError`.
        ///   - permission: The permission from then on.
        ///   - provider: The provider that the answer names.
        ///   - times: How often; `nil`: always.
        public init(
            at: String, vsError: Int? = nil, error: String? = nil, permission: String? = nil, provider: String? = nil, times: Int? = nil
        ) {
            (self.at, self.vsError, self.error, self.permission, self.provider, self.times) = (at, vsError, error, permission, provider, times)
        }
    }

    /// The provider's signed answers come from here.
    public struct Saml: Codable, Sendable, Hashable {
        /// `text` or `sandbox`.
        public var mode: String
        /// With `text`: the answer.
        public var text: String?
        /// With `sandbox`: the person at the provider.
        public var person: String?
        /// With `sandbox`: a mistake in the answer, see the sandbox's README.
        public var flaw: String?

        /// - Parameters:
        ///   - mode: `text` or `sandbox`.
        ///   - text: With `text`: the answer.
        ///   - person: With `sandbox`: the person at the provider.
        ///   - flaw: With `sandbox`: a mistake in the answer.
        public init(mode: String, text: String? = nil, person: String? = nil, flaw: String? = nil) {
            (self.mode, self.text, self.person, self.flaw) = (mode, text, person, flaw)
        }
    }

    /// The device's Apple Account.
    public struct AutoSignIn: Codable, Sendable, Hashable {
        public var account: String
        /// `granted`, `denied` or `dismissed`.
        public var onPrompt: String?

        public init(account: String, onPrompt: String? = nil) { (self.account, self.onPrompt) = (account, onPrompt) }
    }

    /// The time at the start, ISO 8601; default: the real one.
    public var clock: Date?
    public var permission: Permission?
    public var system: System?
    /// One for each time that the picker opens; afterwards it is cancelled.
    public var picker: [Choice]?
    /// The providers that the platform can sign in; default: all.
    public var onboarded: [String]?
    public var saml: Saml?
    public var faults: [Fault]?
    public var autoSignIn: AutoSignIn?

    /// A scenario that starts at the real time; set ``clock`` for another one.
    public init(
        permission: Permission? = nil, system: System? = nil, picker: [Choice]? = nil, onboarded: [String]? = nil, saml: Saml? = nil,
        faults: [Fault]? = nil, autoSignIn: AutoSignIn? = nil
    ) {
        (self.permission, self.system, self.picker, self.onboarded) = (permission, system, picker, onboarded)
        (self.saml, self.faults, self.autoSignIn) = (saml, faults, autoSignIn)
    }

    /// - Throws: `DecodingError`, naming the key.
    public init(json: Data) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        self = try decoder.decode(Scenario.self, from: json)
    }
}
