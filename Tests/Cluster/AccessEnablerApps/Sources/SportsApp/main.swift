import AccessEnabler
import Foundation

// sports-app: signs ada in at the cluster of SERVICE_PROVIDER, plays, reads metadata, signs out (clients #61, #62, #67, #68).

func value(_ name: String) -> String { ProcessInfo.processInfo.environment[name] ?? "" }

func expect(_ condition: Bool, _ what: String) {
    guard !condition else { return }
    print("failed: \(what)")
    exit(1)
}

/// Waits for a callback, at most 20 s.
func after<Value>(_ what: String, _ begin: (@escaping (Value) -> Void) -> Void) async -> Value {
    let watchdog = Task {
        try await Task.sleep(nanoseconds: 20_000_000_000)
        expect(false, "\(what): no callback within 20 s")
    }
    defer { watchdog.cancel() }
    return await withCheckedContinuation { continuation in
        var isDone = false
        begin { value in
            guard !isDone else { return }
            isDone = true
            continuation.resume(returning: value)
        }
    }
}

func sports() async throws {
    let manager = AccessEnablerManager.shared
    let isSet: Bool = await after("setRequestor") { done in
        manager.onRequestor = done
        manager.start(statement: value("STATEMENT"), requestor: "ACME1", serviceProviders: [value("SERVICE_PROVIDER")])
    }
    expect(isSet, "setRequestorComplete(1)")
    let start: (Bool, String) = await after("checkAuthentication") { done in
        manager.onStatus = { done(($0, $1)) }
        manager.accessEnabler.checkAuthentication()
    }
    expect(!start.0 && start.1 == USER_NOT_AUTHENTICATED_ERROR, "nobody is signed in: \(start)")

    let view = WebView()
    let end: (Bool, String) = await after("getAuthentication") { done in
        manager.onStatus = { done(($0, $1)) }
        manager.onProviders = { providers in
            let north = providers.first { $0.id == "NorthCable" }
            expect(north?.displayName == "North Cable", "North Cable is in the dialog")
            // #67: from within a callback.
            manager.accessEnabler.setSelectedProvider(north?.id)
        }
        manager.onPage = { url in
            Task {
                let back = try await view.open(url, as: "ada", until: "adobepass://")
                // #67: from a queue of its own.
                DispatchQueue.global().async { manager.accessEnabler.handleExternalURL(back) }
            }
        }
        manager.accessEnabler.getAuthentication()
    }
    expect(end.0 && end.1 == USER_AUTHENTICATED, "signed in: \(end)")

    let watchable: [String] = await after("checkPreauthorizedResources") { done in
        manager.onPreauthorized = done
        manager.accessEnabler.checkPreauthorizedResources(["ACME1-NEWS", "ACME1-SPORT"])
    }
    expect(watchable == ["ACME1-NEWS", "ACME1-SPORT"], "preauthorized: \(watchable)")
    let token: (String, String) = await after("getAuthorization") { done in
        manager.onToken = { done(($0, $1)) }
        manager.onRefusal = { expect(false, "a media token: \($0) \($1)") }
        manager.accessEnabler.getAuthorization("ACME1-NEWS")
    }
    expect(token.1 == "ACME1-NEWS" && !token.0.isEmpty, "setToken")
    print("token \(token.0)")

    let source: (Any?, [AnyHashable: Any]) = await after("getMetadata tokenSource") { done in
        manager.onMetadata = { done(($0, $1)) }
        manager.askTokenSource()
    }
    expect(source.1[METADATA_OPCODE_KEY] as? Int == 3 && source.1["user_metadata_name"] as? String == "tokenSource", "arguments come back")
    let user: (Any?, [AnyHashable: Any]) = await after("getMetadata userID") { done in
        manager.onMetadata = { done(($0, $1)) }
        manager.ask("userID")
    }
    expect((user.0 as? String)?.isEmpty == false, "userID is a text: \(String(describing: user.0))")
    let zip: (Any?, [AnyHashable: Any]) = await after("getMetadata zip") { done in
        manager.onMetadata = { done(($0, $1)) }
        manager.ask("zip")
    }
    expect(zip.0 is NSArray || zip.0 is [Any] || zip.0 is String, "zip is a list or a text: \(String(describing: zip.0))")
    let provider: MVPD? = await after("getSelectedProvider") { done in
        manager.onSelected = done
        manager.accessEnabler.getSelectedProvider()
    }
    expect(provider?.id == "NorthCable", "selectedProvider")

    let out: (Bool, String) = await after("logout") { done in
        manager.onStatus = { done(($0, $1)) }
        manager.onPage = { url in Task { manager.accessEnabler.handleExternalURL(try? await view.open(url, as: "ada", until: "adobepass://")) } }
        manager.accessEnabler.logout()
    }
    expect(!out.0 && out.1 == USER_NOT_AUTHENTICATED_ERROR, "signed out: \(out)")
    expect(manager.tracked > 0, "figures for analytics")
}

func plugin() async {
    let provider = PrimetimeAuthProvider()
    let status: Int32 = await after("setRequestor, signed") { done in
        provider.configured = done
        provider.configure([
            "requestorID": "ACME1", "serviceProviders": [value("SERVICE_PROVIDER") + "/"], "secret": value("SECRET"),
            "publicKey": value("PUBLIC_KEY"),
        ])
    }
    expect(status == 1, "setRequestorComplete(1) of a signing app")
    for resource in [nil, "", "ACME1-NEWS"] as [String?] {
        let refusal: (String?, String) = await after("checkAuthorization \(resource ?? "nil")") { done in provider.play(resource) { done(($0, $1)) } }
        let expected = resource == "ACME1-NEWS" ? USER_NOT_AUTHENTICATED_ERROR : GENERIC_AUTHORIZATION_ERROR
        expect(refusal.0 == nil && refusal.1 == expected, "\(resource ?? "nil"): \(refusal)")
    }
    let view = WebView()
    let end: (Int32, String) = await after("getAuthentication, signed") { done in
        provider.signIn(
            at: "NorthCable", page: { url in Task { provider.comeBack(to: try? await view.open(url, as: "ada", until: "adobepass://")) } },
            completion: { done(($0, $1)) })
    }
    expect(end.0 == 1 && end.1 == USER_AUTHENTICATED, "a signing app is signed in: \(end)")
    let played: (String?, String) = await after("checkAuthorization, signed") { done in provider.play("ACME1-NEWS") { done(($0, $1)) } }
    expect(played.0?.isEmpty == false, "a media token of a signing app: \(played.1)")
    provider.cancel()
    let wrong: Int32 = await after("setRequestor without a name") { done in
        provider.configured = done
        provider.configure([:])
    }
    expect(wrong == 0, "setRequestorComplete(0) without a requestor")
}

setvbuf(stdout, nil, _IONBF, 0)
Task {
    do {
        try await sports()
        // It signs its calls, which version 2 of the API does not take.
        if value("AccessEnablerRestVersion") != "v2" { await plugin() }
        print("done")
        exit(0)
    } catch {
        print("failed: \(error)")
        exit(1)
    }
}
RunLoop.main.run()
