internal import Foundation

/// A device of an Apple Account: signs in by the value that is on it, or puts one there after an ordinary sign-in (apple §1.1), printing each step.
struct AutomaticSignIn {
    /// What the person answers to the sheet.
    enum OptIn {
        case approves
        case dismisses
        /// The person at the terminal is asked.
        case asks
    }

    let console: Console
    let app: StreamingApp
    let account: SimulatedAppleAccount
    let optIn: OptIn
    var rule = LaunchRule()

    /// Looks for a value, as an app that is launched signed out does.
    /// - Returns: True when the device is signed in now.
    func redeem() async throws -> Bool {
        let token = try await console.step({ Self.text($0, account.account) }) { try await account.token() }
        guard let value = rule.value(of: token) else { return false }
        let outcome = try await console.step({ Self.text($0) }) { try await app.redeem(value, of: account) }
        if case .signedIn = outcome { return true }
        return false
    }

    /// Offers the opt-in after an ordinary sign-in. Whatever comes of it, the person can watch.
    func offer() async throws {
        let token = try await account.token()
        guard token.value == nil, token.authorization != "denied" else { return }
        let prompt = try await console.step({ "Automatic sign-in on \(account.account)'s other devices: \(console.bold($0.authorization))" }) {
            try await account.requestAuthorization(isApproved() ? .approve : .dismiss)
        }
        guard prompt.authorization == "granted" else { return }
        let issued = try await console.step({ "Got a value for the account (\($0.value.utf8.count) characters)" }) {
            try await app.issueToken(for: account, authorization: prompt.authorization)
        }
        do {
            try await account.update(issued.value, prompt)
        } catch {
            try await app.confirm(issued, isStored: false)
            throw error
        }
        try await console.step("Stored it on \(account.account)'s Apple Account") { try await app.confirm(issued, isStored: true) }
        let link = try await app.webLink()
        console.line(console.faint("            see and end it within five minutes at \(link)"))
    }

    /// Ends every opt-in of the account that this device is signed in to.
    func signOutEverywhere() async throws {
        let families = try await app.optIns()
        try await console.step("Automatic sign-in turned off, and the devices that it signed in signed out (\(families.count))") {
            for family in families { try await app.optOut(family, reason: "sign_out_everywhere") }
        }
    }

    private func isApproved() -> Bool {
        switch optIn {
        case .approves: return true
        case .dismisses: return false
        case .asks:
            console.line("\n  Sign in by yourself on other devices of \(account.account)'s Apple Account? [y/N] ")
            return readLine()?.lowercased().hasPrefix("y") ?? false
        }
    }

    private static func text(_ token: SimulatedAppleAccount.Token, _ account: String) -> String {
        switch (token.value, token.authorization) {
        case (_?, "granted"): "\(account)'s Apple Account holds a value for this app"
        case (_, "denied"): "\(account) does not want automatic sign-in"
        default: "\(account)'s Apple Account holds no value for this app"
        }
    }

    private static func text(_ redemption: StreamingApp.Redemption) -> String {
        switch redemption {
        case .signedIn(let mvpds): "Signed in by it, without a code (\(mvpds.joined(separator: ", ")))"
        case .refused(let code): "It was refused (\(code)): an ordinary sign-in follows"
        }
    }
}
