# SPDX-License-Identifier: GPL-3.0-or-later
"""What the animator sees; `register` brings it to Blender, `unregister` takes all of it away again."""


def register() -> None:
    import bpy

    from . import contact_bars, overlays, properties, session, translations

    properties.register()
    for each in _classes():
        bpy.utils.register_class(each)
    session.register()
    overlays.register()
    contact_bars.register()
    translations.register()


def unregister() -> None:
    import bpy

    from . import contact_bars, overlays, properties, session, translations

    translations.unregister()
    contact_bars.unregister()
    overlays.unregister()
    session.unregister()
    for each in reversed(_classes()):
        bpy.utils.unregister_class(each)
    properties.unregister()


def _classes() -> list[type]:
    from . import character_operators, job_operators, panels, preferences, preset_operators, world_operators

    return [each for module in (preferences, character_operators, world_operators, job_operators, preset_operators,
                                     panels)
            for each in module.CLASSES]
