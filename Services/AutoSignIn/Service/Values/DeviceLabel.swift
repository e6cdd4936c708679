internal import Contracts

extension DeviceInformation {
    /// The person's name for the device, such as `Apple TV`: at most 64 characters, none of them a control character.
    var label: String {
        let name = [model, type, osName].first { !$0.isEmpty } ?? "Device"
        return String(String.UnicodeScalarView(name.unicodeScalars.filter { $0.properties.generalCategory != .control }.prefix(64)))
    }
}
