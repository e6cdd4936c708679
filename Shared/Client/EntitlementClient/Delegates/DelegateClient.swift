package import Foundation
internal import Octets

/// The library with the operations and delegates of the vendor's SDK (client-sdk §1.3): the base of the module `AccessEnabler`.
///
/// Operations return at once; results come to the delegates. Set both before the first operation.
@MainActor
package final class DelegateClient {
    /// Receives results.
    package weak var delegate: (any ClientDelegate)?
    /// Receives advanced codes.
    package weak var statusDelegate: (any ClientStatusDelegate)?

    let client: EntitlementClient
    let interaction: DelegateInteraction
    let logoutInteraction: DelegateInteraction
    private let callbacks: AsyncStream<Callback>.Continuation
    private var configuration: Task<Void, Never>?
    private var optionsChange: Task<Void, Never>?
    /// A requestor was set at some time.
    private var isConfigured = false
    var signInTask: Task<Bool, Never>?
    /// The running sign-in continues with another provider: its end is not reported.
    var isContinued = false
    /// Named by the app before there was a configuration: the next sign-in skips the picker.
    var preselected: Provider.ID?

    /// - Parameters:
    ///   - softwareStatement: The application's signed statement.
    ///   - environment: The device and everything else outside the library.
    ///   - storageCheck: The check of the storage now (`initWithStorageCheck`).
    package init(softwareStatement: String, environment: ClientEnvironment, storageCheck: StorageCheck = .none) {
        let (stream, callbacks) = AsyncStream<Callback>.makeStream()
        let addresses = [environment.returnAddress, environment.safariReturnAddress].compactMap(\.self)
        self.callbacks = callbacks
        client = EntitlementClient(softwareStatement: softwareStatement, environment: environment, storageCheck: storageCheck)
        interaction = DelegateInteraction(returnAddresses: addresses) { callbacks.yield($0) }
        logoutInteraction = DelegateInteraction(returnAddresses: addresses) { callbacks.yield($0) }
        client.hub.setSink { event in if let callback = Callback(event) { callbacks.yield(callback) } }
        Task { [weak self] in
            for await callback in stream {
                guard let self else { return }
                callback.deliver(to: delegate, statusDelegate)
            }
        }
    }

    deinit { callbacks.finish() }

    // MARK: - Settings

    /// Changes what is sent with each later call: `applicationProfile`, `visitorID`, `handleSVC`, `device_info`.
    package func setOptions(_ options: [String: JSONValue]) {
        func text(_ key: String) -> String? { if case .string(let text) = options[key] { text } else { nil } }
        let handlesSVC = options["handleSVC"] == true || text("handleSVC")?.lowercased() == "true"
        let changed = ClientOptions(
            applicationProfile: text("applicationProfile"), visitorID: text("visitorID"), handlesSafariViewController: handlesSVC,
            deviceInformation: text("device_info"))
        let previous = optionsChange
        optionsChange = Task { [client] in
            await previous?.value
            await client.updateOptions(changed)
        }
    }

    /// Signs calls with a key pair of the application instead of sending an access token, from the next operation on. It works with version 1 of the
    /// API only.
    package func setSigner(_ signer: RequestSigner?) {
        let previous = optionsChange
        optionsChange = Task { [client] in
            await previous?.value
            await client.sign(with: signer)
        }
    }

    /// Fetches the requestor's configuration; ends with `setRequestorComplete`. Operations that are called meanwhile run after it.
    /// - Parameters:
    ///   - requestor: The channel or brand.
    ///   - serviceProviders: Servers; without any it is the environment's.
    package func setRequestor(_ requestor: String, serviceProviders: [URL] = []) {
        let (previous, optionsChange) = (configuration, optionsChange)
        isConfigured = true
        configuration = Task { [client, callbacks] in
            await previous?.value
            await optionsChange?.value
            do {
                try await client.configure(requestor: Requestor.ID(requestor), endpoints: serviceProviders)
                callbacks.yield(.setRequestorComplete(DelegateConstants.ACCESS_ENABLER_STATUS_SUCCESS))
            } catch {
                callbacks.yield(.setRequestorComplete(DelegateConstants.ACCESS_ENABLER_STATUS_ERROR))
            }
        }
    }

    // MARK: - Session

    /// Ends with `setAuthenticationStatus`; makes no call to the servers.
    package func checkAuthentication() {
        run { client, push in
            switch await client.authenticationState() {
            case .authenticated: push(.setAuthenticationStatus(DelegateConstants.ACCESS_ENABLER_STATUS_SUCCESS, DelegateConstants.USER_AUTHENTICATED))
            case .notAuthenticated:
                push(.setAuthenticationStatus(DelegateConstants.ACCESS_ENABLER_STATUS_ERROR, DelegateConstants.USER_NOT_AUTHENTICATED_ERROR))
            }
        }
    }

    /// Ends with `selectedProvider`.
    package func getSelectedProvider() {
        run { client, push in push(.selectedProvider(await client.selectedProvider().map(ListedProvider.init))) }
    }

    /// Signs the person out; ends with `setAuthenticationStatus`, status 0.
    package func logout() {
        let interaction = logoutInteraction
        run { client, push in
            _ = try? await client.signOut(interaction: interaction)
            push(.setAuthenticationStatus(DelegateConstants.ACCESS_ENABLER_STATUS_ERROR, DelegateConstants.USER_NOT_AUTHENTICATED_ERROR))
        }
    }

    /// Ends with `setMetadataStatus`.
    /// - Parameter arguments: ``METADATA_OPCODE_KEY``, and the key that goes with it.
    package func getMetadata(_ arguments: [String: JSONValue]) {
        func text(_ key: String) -> String { if case .string(let text) = arguments[key] { text } else { "" } }
        guard case .integer(let number) = arguments[DelegateConstants.METADATA_OPCODE_KEY], let opcode = Int32(exactly: number) else {
            return push(.setMetadataStatus(nil, encrypted: false, key: -1, arguments: arguments))
        }
        let key: MetadataKey? =
            switch opcode {
            case DelegateConstants.METADATA_AUTHENTICATION: .authenticationExpiry
            case DelegateConstants.METADATA_AUTHORIZATION: .authorizationExpiry(Resource.ID(text(DelegateConstants.METADATA_RESOURCE_ID_KEY)))
            case DelegateConstants.METADATA_DEVICE_ID: .deviceID
            case DelegateConstants.METADATA_USER_META: .user(text(DelegateConstants.METADATA_USER_META_KEY))
            default: nil
            }
        run { client, push in
            var value: MetadataValue?
            if let key { value = try? await client.metadata(key) }
            push(.setMetadataStatus(value?.value, encrypted: value?.isEncrypted ?? false, key: opcode, arguments: arguments))
        }
    }

    // MARK: - For the operations

    /// True when a provider that the app names now can be used at once.
    var hasConfiguration: Bool { isConfigured }

    nonisolated func push(_ callback: Callback) { callbacks.yield(callback) }

    /// Runs an operation once the requestor is set and the options have changed.
    func run(_ operation: @escaping @Sendable (EntitlementClient, @Sendable (Callback) -> Void) async -> Void) {
        let prelude = prelude
        Task { [client, callbacks] in
            await prelude()
            await operation(client) { callbacks.yield($0) }
        }
    }

    /// Waits for what was called before.
    var prelude: @Sendable () async -> Void {
        let (configuration, optionsChange) = (configuration, optionsChange)
        return {
            await configuration?.value
            await optionsChange?.value
        }
    }
}

extension DelegateClient {
    /// Gets a media token; ends with `setToken` or `tokenRequestFailed`. It fails at once if the device is not signed in.
    package func checkAuthorization(_ resource: String, data: [String: String] = [:]) {
        run { client, push in await Self.authorize(resource, data, client, push) }
    }

    /// As ``checkAuthorization(_:data:)``; if the device is not signed in, the person signs in first.
    package func getAuthorization(_ resource: String, data: [String: String] = [:]) {
        let prelude = prelude
        Task { [weak self, client] in
            await prelude()
            let push: @Sendable (Callback) -> Void = { [weak self] in self?.push($0) }
            if await !client.needsSignIn() { return await Self.authorize(resource, data, client, push) }
            guard let signIn = self?.startSignIn(force: false, data: data, filter: nil) else { return }
            if await signIn.value { return await Self.authorize(resource, data, client, push) }
            push(.tokenRequestFailed(resource: resource, code: DelegateConstants.USER_NOT_AUTHENTICATED_ERROR, text: ""))
        }
    }

    /// Ends with `preauthorizedResources`.
    /// - Parameters:
    ///   - resources: As many as the integration permits, by default 5.
    ///   - cache: False: no kept answer is used.
    package func checkPreauthorizedResources(_ resources: [String], cache: Bool = true) {
        let disabled: Set<PreauthorizationFeature> = cache ? [] : [.localCache, .remoteCache]
        run { client, push in
            do {
                let decisions = try await client.preauthorize(resources.map { Resource.ID($0) }, disabling: disabled)
                push(.preauthorizedResources(decisions.filter(\.isAuthorized).map(\.resource.rawValue)))
            } catch {
                if case EntitlementError.preauthorizationFailed(let status) = error, status.status == 0 {
                    push(.status(Status(.preauthorizationFailed, details: status.code)))
                }
                push(.preauthorizedResources([]))
            }
        }
    }

    /// Ends with exactly one call of the callback, which is kept until then.
    package func preauthorize(_ request: ClientPreauthorizeRequest, callback: any ClientPreauthorizeCallback) {
        run { client, push in
            do {
                let resources = request.resources.map { Resource.ID($0) }
                push(.onResponse(try await client.preauthorize(resources, disabling: request.disabledFeatures), nil, callback))
            } catch EntitlementError.preauthorizationFailed(let status) where status.status != 0 {
                push(.onResponse([], status, callback))
            } catch EntitlementError.preauthorizationFailed(let status) {
                push(.onFailure(status, callback))
            } catch {
                push(.onFailure(.networkError, callback))
            }
        }
    }

    private static func authorize(
        _ resource: String, _ data: [String: String], _ client: EntitlementClient, _ push: @Sendable (Callback) -> Void
    ) async {
        do {
            push(.setToken(try await client.authorize(Resource.ID(resource), data: data).serialized, resource: resource))
        } catch EntitlementError.denied(let denial) {
            push(.tokenRequestFailed(resource: resource, code: denial.code.rawValue, text: denial.text))
        } catch {
            push(.tokenRequestFailed(resource: resource, code: DelegateConstants.GENERIC_AUTHORIZATION_ERROR, text: ""))
        }
    }
}
