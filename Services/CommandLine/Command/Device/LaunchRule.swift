/// When an app that is launched signed out signs in by a value on the Apple Account (apple §1.1).
package struct LaunchRule: Sendable {
    /// The value is still on the account: to use it would undo what the person has just done.
    private var waitsForPerson = false

    package init() {}

    /// The person signed out in the app.
    package mutating func signedOut() { waitsForPerson = true }

    /// The person signed in the ordinary way.
    package mutating func signedIn() { waitsForPerson = false }

    /// - Returns: The value to redeem; `nil` when the ordinary sign-in comes.
    package func value(of token: SimulatedAppleAccount.Token) -> String? {
        guard !waitsForPerson, token.authorization == "granted" else { return nil }
        return token.value
    }
}
