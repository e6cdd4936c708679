internal import Contracts

extension DeviceInformation {
    private static let longestLabel = 120

    /// Manufacturer, model and system, as far as the device told them: by these a person recognises a device.
    var label: String {
        let maker = [manufacturer, vendor].first { !$0.isEmpty } ?? ""
        let device = [model.hasPrefix(maker) ? "" : maker, model].filter { !$0.isEmpty }.joined(separator: " ")
        let system = osName.isEmpty || device.contains(osName) ? "" : device.isEmpty ? osName : " (\(osName))"
        return String((device + system).filter { !$0.isNewline }.prefix(Self.longestLabel))
    }
}
