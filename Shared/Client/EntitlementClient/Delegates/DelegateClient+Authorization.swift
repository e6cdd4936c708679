internal import Octets

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
