internal import Octets

/// A call of the delegate that waits for its turn.
enum Callback: Sendable {
    case setRequestorComplete(Int32)
    case setAuthenticationStatus(Int32, String)
    case setToken(String, resource: String)
    case tokenRequestFailed(resource: String, code: String, text: String)
    case preauthorizedResources([String])
    case selectedProvider(ListedProvider?)
    case displayProviderDialog([ListedProvider])
    case navigateToUrl(String, useSVC: Bool)
    case sendTrackingData([String], event: Int32)
    case setMetadataStatus(JSONValue?, encrypted: Bool, key: Int32, arguments: [String: JSONValue])
    case presentTvProviderDialog(ProviderPicker)
    case dismissTvProviderDialog(ProviderPicker)
    case status(Status)
    case onResponse([Decision], PreauthorizationStatus?, any ClientPreauthorizeCallback)
    case onFailure(PreauthorizationStatus, any ClientPreauthorizeCallback)
}

extension Callback {
    /// - Returns: `nil` for an event that the original does not have.
    init?(_ event: EntitlementEvent) {
        switch event {
        case .status(let status): self = .status(status)
        case .tracking(let tracking): self = .sendTrackingData(tracking.array, event: tracking.event)
        case .storageFailed: return nil
        }
    }

    @MainActor
    func deliver(to delegate: (any ClientDelegate)?, _ statusDelegate: (any ClientStatusDelegate)?) {
        switch self {
        case .setRequestorComplete(let status): delegate?.setRequestorComplete(status)
        case .setAuthenticationStatus(let status, let code): delegate?.setAuthenticationStatus(status, errorCode: code)
        case .setToken(let token, let resource): delegate?.setToken(token, forResource: resource)
        case .tokenRequestFailed(let resource, let code, let text):
            delegate?.tokenRequestFailed(resource, errorCode: code, errorDescription: text)
        case .preauthorizedResources(let resources): delegate?.preauthorizedResources(resources)
        case .selectedProvider(let mvpd): delegate?.selectedProvider(mvpd)
        case .displayProviderDialog(let mvpds): delegate?.displayProviderDialog(mvpds)
        case .navigateToUrl(let url, let useSVC):
            if useSVC { delegate?.navigateToUrl(url, useSVC: true) } else { delegate?.navigateToUrl(url) }
        case .sendTrackingData(let data, let event): delegate?.sendTrackingData(data, forEventType: event)
        case .setMetadataStatus(let value, let encrypted, let key, let arguments):
            delegate?.setMetadataStatus(value, encrypted: encrypted, forKey: key, andArguments: arguments)
        case .presentTvProviderDialog(let picker): delegate?.presentTvProviderDialog(picker.content())
        case .dismissTvProviderDialog(let picker): delegate?.dismissTvProviderDialog(picker.content())
        case .status(let status): statusDelegate?.status(status.dictionary)
        case .onResponse(let decisions, let status, let callback): callback.onResponse(decisions, status: status)
        case .onFailure(let status, let callback): callback.onFailure(status)
        }
    }
}

extension Status {
    /// As `status` gets it.
    package var dictionary: [String: String] {
        var dictionary = ["errorId": code.rawValue, "level": level.rawValue]
        dictionary["message"] = message
        dictionary["details"] = details
        dictionary["resource"] = resource?.rawValue
        dictionary["code"] = registrationCode
        return dictionary
    }
}

extension Tracking {
    package var event: Int32 {
        switch self {
        case .authentication: DelegateConstants.TRACKING_AUTHENTICATION
        case .authorization: DelegateConstants.TRACKING_AUTHORIZATION
        case .selectedProvider: DelegateConstants.TRACKING_GET_SELECTED_PROVIDER
        }
    }

    /// As `sendTrackingData` gets it (client-sdk §1.5).
    package var array: [String] {
        switch self {
        case .authentication(let isSuccess, let provider, let userID, let isCached, let device):
            ["\(isSuccess)", provider?.rawValue ?? "", userID, "\(isCached)", device.deviceType, device.clientType, device.system]
        case .authorization(let isSuccess, let provider, let userID, let isCached, let error, let details, let device):
            [
                "\(isSuccess)", provider?.rawValue ?? "", userID, "\(isCached)", error, details, device.deviceType, device.clientType, device.system,
            ]
        case .selectedProvider(let provider, let device): [provider?.rawValue ?? "", device.deviceType, device.clientType, device.system]
        }
    }
}
